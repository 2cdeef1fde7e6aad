"""Put a member into JSON with comments, or take it out, and leave every other character as it is. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from laconic.errors import UsageError

_GAP: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD: Final = re.compile(r"[^\s,:\[\]{}\"/]+")
_CLOSERS: Final = frozenset("}]")


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int  # of the quote before the key
    value: int
    end: int  # after the value


def parse(text: str) -> Any:
    """What the text means."""
    solid = []
    for kind, start, end in _tokens(text):
        if kind != "gap":
            solid.append(text[start:end])
    bare = []
    for piece, after in pairwise([*solid, ""]):
        if piece != "," or after not in _CLOSERS:
            bare.append(piece)
    try:
        if bare:
            return json.loads(" ".join(bare))
        return {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"That is not JSON: {error}.", "Fix the file, or use --print and edit it by hand.") from None


def put(text: str, path: Sequence[str], value: object) -> str:
    """The text with this value at the path; a value that is there already is replaced only where it differs."""
    wanted = _with(parse(text), path, value)
    if wanted == parse(text) and text.strip():
        return text
    changed = _put(text if text.strip() else "{}\n", path, value)
    return _check(changed, wanted)


def take(text: str, path: Sequence[str]) -> str:
    """The text without the member at the path, and without the objects that it leaves empty."""
    if not _holds(parse(text), path):
        return text
    wanted = parse(text)
    while True:
        text, wanted = _take(text, path), _without(wanted, path)
        path = path[:-1]
        if not path or _at(wanted, path):
            return _check(text, wanted)


def append(text: str, path: Sequence[str], value: object) -> str:
    """The text with this value at the end of the array at the path; where there is none, one is made."""
    held = parse(text)
    if not _holds(held, path) or not isinstance(_at(held, path), list):
        return put(text, path, [value])
    wanted = _with(held, path, [*_at(held, path), value])
    return _check(_insert(text, _find(text, path), "", value), wanted)


def drop(text: str, path: Sequence[str], index: int) -> str:
    """The text without this element of the array at the path; an array that it leaves empty goes too."""
    held = parse(text)
    left = list(_at(held, path))
    del left[index]
    if not left:
        return take(text, path)
    opening = _find(text, path)
    members, closing = _members(text, opening)
    return _check(_cut(text, opening, members, index, closing), _with(held, path, left))


def _check(text: str, wanted: object) -> str:
    if parse(text) != wanted:
        raise UsageError("Laconic does not understand the layout of the file.", "Use --print and edit it by hand.")
    return text


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    at = 0
    while at < len(text):
        for kind, rule in (("gap", _GAP), ("string", _STRING), ("word", _WORD)):
            if found := rule.match(text, at):
                yield kind, at, found.end()
                at = found.end()
                break
        else:
            yield text[at], at, at + 1
            at += 1


def _members(text: str, opening: int) -> tuple[list[_Member], int]:
    """The members of the object or array that opens here, and where it closes."""
    members: list[_Member] = []
    none = -2 if text[opening] == "[" else -1  # -1: a key is next, -2: a value is
    depth, key, value = 0, (0, 0), none
    last = opening
    for kind, start, end in _tokens(text[opening:]):
        start, end = start + opening, end + opening
        if kind in "{[":
            if depth == 1 and value == -2:
                value = start
            depth += 1
        elif kind in "}]":
            depth -= 1
            if depth == 0:
                if value >= 0:
                    members.append(_member(text, key, value, last))
                return members, start
        elif depth == 1 and kind == "," and value >= 0:
            members.append(_member(text, key, value, last))
            value = none
        elif depth == 1 and kind == ":":
            value = -2
        elif depth == 1 and kind != "gap":
            if value == -2:
                value = start
            elif value == -1:
                key = (start, end)
        if kind != "gap":
            last = end
    raise UsageError("An object is not closed.", "Fix the file, or use --print and edit it by hand.")


def _member(text: str, key: tuple[int, int], value: int, end: int) -> _Member:
    if key == (0, 0):  # of an array
        return _Member("", value, value, end)
    return _Member(str(json.loads(text[slice(*key)])), key[0], value, end)


def _opening(text: str) -> int:
    found = _GAP.match(text)
    at = 0
    if found:
        at = found.end()
    if text[at : at + 1] != "{":
        raise UsageError("The file does not hold an object.", "Fix it, or use --print and edit it by hand.")
    return at


def _put(text: str, path: Sequence[str], value: object) -> str:
    opening = _opening(text)
    for depth, key in enumerate(path):
        members, _ = _members(text, opening)
        member = next((m for m in members if m.key == key), None)
        rest = path[depth + 1 :]
        if member is None:
            for inner in reversed(rest):
                value = {inner: value}
            return _insert(text, opening, f"{json.dumps(key)}: ", value)
        if not rest or text[member.value] != "{":
            for inner in reversed(rest):
                value = {inner: value}
            return text[: member.value] + _dump(text, value, _indent(text, member.start)) + text[member.end :]
        opening = member.value
    return text


def _find(text: str, path: Sequence[str]) -> int:
    """Where the value at the path begins."""
    at = _opening(text)
    for key in path:
        at = next(member.value for member in _members(text, at)[0] if member.key == key)
    return at


def _insert(text: str, opening: int, name: str, value: object) -> str:
    """A value at the end of the object or array that opens here; `name` is what stands before it."""
    members, closing = _members(text, opening)
    line = "\n"
    if "\r\n" in text:
        line = "\r\n"
    outer = _indent(text, opening)
    if members and "\n" not in text[opening : members[0].start]:  # an object on one line stays on it
        end = members[-1].end
        return text[:end] + ", " + name + json.dumps(value, ensure_ascii=False) + text[end:]
    if members:
        inner = _indent(text, members[0].start)
    else:
        inner = outer + _unit(text)
    new = name + _dump(text, value, inner)
    tail = len(text[:closing].rstrip())
    if not members:
        return text[:tail] + line + inner + new + line + outer + text[closing:]
    end = members[-1].end
    comma = _comma(text[end:closing])
    head = text[:end] + ("" if comma else ",") + text[end:tail]
    return head + line + inner + new + ("," if comma else "") + text[tail:]


def _take(text: str, path: Sequence[str]) -> str:
    opening = _opening(text)
    for depth, key in enumerate(path):
        members, closing = _members(text, opening)
        index = next(i for i, member in enumerate(members) if member.key == key)
        if depth < len(path) - 1:
            opening = members[index].value
            continue
        return _cut(text, opening, members, index, closing)
    return text


def _cut(text: str, opening: int, members: list[_Member], index: int, closing: int) -> str:
    member = members[index]
    start, end = member.start, member.end
    after = text[end : members[index + 1].start if index + 1 < len(members) else closing]
    comma = _comma(after)
    if comma:
        end += comma
    start = len(text[:start].rstrip(" \t"))
    if text[:start].endswith("\n"):  # it stood on lines of its own: the line end before it goes too
        start -= 2 if text[:start].endswith("\r\n") else 1
    elif comma and index == 0:
        start, end = member.start, end + len(text[end:]) - len(text[end:].lstrip(" "))
    text = text[:start] + text[end:]
    if not comma and index:  # the last: the comma that parted it from its neighbour goes
        before = members[index - 1].end
        place = _comma(text[before:])
        text = text[: before + place - 1] + text[before + place :]
    if len(members) == 1:
        closing = _members(text, opening)[1]
        if not text[opening + 1 : closing].strip():
            text = text[: opening + 1] + text[closing:]
    return text


def _comma(text: str) -> int:
    """Where the first comma of this stretch ends, if only white space and comments stand before it; else 0."""
    for kind, _, end in _tokens(text):
        if kind == ",":
            return end
        if kind != "gap":
            return 0
    return 0


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation: that of the outermost members, where they have lines of their own."""
    members, _ = _members(text, _opening(text))
    return (_indent(text, members[0].start) if members else "") or "  "


def _dump(text: str, value: object, indent: str) -> str:
    """A value as people write it: objects over lines, arrays on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    line = "\n"
    if "\r\n" in text:
        line = "\r\n"
    inner = indent + _unit(text)
    rows = []
    for key, item in value.items():
        rows.append(f"{inner}{json.dumps(key)}: {_dump(text, item, inner)}")
    return "{" + line + f",{line}".join(rows) + line + indent + "}"


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value[key]
    return value


def _holds(value: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _with(value: Any, path: Sequence[str], new: object) -> Any:
    if not path:
        return new
    held = dict(value) if isinstance(value, dict) else {}
    held[path[0]] = _with(held.get(path[0], {}), path[1:], new)
    return held


def _without(value: Any, path: Sequence[str]) -> Any:
    held = dict(value)
    if len(path) == 1:
        del held[path[0]]
    else:
        held[path[0]] = _without(held[path[0]], path[1:])
    return held
