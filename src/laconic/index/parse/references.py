"""Turn the captures of a references query into references: who uses which name, how, and on what receiver.

Names that a function declares for itself are left out. The text around a name tells most of what is needed (a call is
followed by a parenthesis, a receiver stands before a dot), which is several times faster than asking the tree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from laconic.index.parse.compiled import CompiledLanguage
from laconic.index.parse.definitions import Outline, scopes
from laconic.index.parse.receiver import before
from laconic.index.parse.source import Source
from laconic.index.parse.tree import find_hidden
from laconic.index.symbol_kinds import CALLABLES
from laconic.records import Reference

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: Final = ("write", "read", "type", "inherit", "call", "decorator")  # later ones win
_OPEN, _EQUALS = b"(="
_GENERIC_CALL: Final = re.compile(rb"<[\w\s,.?&*\[\]<>]{1,80}>\(")
_NAME: Final = re.compile(rb"(?<![\w])[A-Za-z_]\w*")
_QUOTED: Final = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|//[^\n]*|/\*.*?\*/", re.DOTALL)
# What may be between two names of a chain, strings included, if there is no comment in it.
_BETWEEN: Final = rb"(?:[^/#\n\"'`]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)*"
_LAST_DOT: Final = re.compile(rb"(" + _BETWEEN + rb"|[^/#]*\n[ \t]*[)\]}]+)(?<=[\w)\]}])(\.)[ \t]*(?://[^\n]*)?\s*")
_DOT_BEFORE: Final = re.compile(rb"(?<=[\w)\]}])\.[ \t]*(?://[^\n]*)?\s+")
_Name = tuple[int, int]  # where it starts and ends
_PLAIN_CHAIN: Final = re.compile(r"[\w$.]+")
_PLAIN_TYPE: Final = re.compile(r"[&*\s]*(?:(?:struct|const)\s+)?([A-Za-z_][\w.]*)")
_NEVER: Final = 1 << 62


def references(ready: CompiledLanguage, source: Source, root: Node, made: Outline) -> tuple[Reference, ...]:
    """Every use of a name in the file that may refer to a definition somewhere."""
    from tree_sitter import QueryCursor  # loaded with the first grammar

    told = _reference_imports(made, source)
    if ready.references is None:
        return tuple(told)
    captures = QueryCursor(ready.references).captures(root)
    nodes = captures.get("id", [])
    names = list(zip([node.start_byte for node in nodes], [node.end_byte for node in nodes], strict=True))
    for start, end in [*find_hidden(ready, source.data), *_stretches(captures.get("words", ()))]:
        names += _find_words(source, start, end)
    names.sort()
    if not names:
        return tuple(told)
    skipped = made.names()
    skipped.update(node.start_byte for node in captures.get("skip", ()))
    segments = _segments(list(scopes(made)))
    ground = _FilePlaces(
        source=source,
        skipped=skipped,
        segments=segments,
        zones=_zones(captures),
        uses={node.start_byte: kind for kind in _KINDS for node in captures.get(kind, ())},
        local=_locals(captures.get("local", ()), captures.get("global", ()), made, segments),
        ignored=ready.language.ignored,
        keyed=_find_keys(ready, root),
    )
    return (*told, *_walk(names, ground))


@dataclass(frozen=True, slots=True)
class _FilePlaces:
    """What is known about the places of a file before its names are looked at."""

    source: Source
    skipped: set[int]  # where names stand that refer to nothing
    segments: list[tuple[int, int]]  # from which byte on which definition is innermost
    zones: list[tuple[int, str]]  # from which byte on all names are used in one way
    uses: dict[int, str]  # how the name at a byte is used
    local: dict[int, frozenset[str]]  # names hidden by local variables, for every definition
    ignored: frozenset[str]
    keyed: dict[int, str]  # receivers of the members that literals write


def _walk(names: Sequence[_Name], ground: _FilePlaces) -> list[Reference]:
    """The one hot loop of extraction: a sweep over all names, in the order of the file."""
    data, skipped, segments, zones = ground.source.data, ground.skipped, ground.segments, ground.zones
    uses, local, ignored, keyed = ground.uses, ground.local, ground.ignored, ground.keyed
    text = data.decode("latin-1")  # one character for each byte: slices of it need no decoding
    ends, ascii_only = ground.source.ends, data.isascii()
    starts = [0, *ends]
    dotted = _find_dotted(data)
    found: list[Reference] = []
    segment, scope, until = -1, -1, segments[0][0]
    zone, within, leaves = -1, "", zones[0][0]
    hidden = local.get(-1, frozenset())
    last_end, chain = -1, ""
    for start, end in names:
        while start >= until:
            segment += 1
            scope = segments[segment][1]
            until = segments[segment + 1][0]
            hidden = local[scope]
        while start >= leaves:
            zone += 1
            within = zones[zone][1]
            leaves = zones[zone + 1][0]
        name = text[start:end]
        if not ascii_only and not name.isascii():
            name = data[start:end].decode("utf-8", "replace")
        receiver = ""
        mark = text[start - 1] if start else ""
        if start in keyed:
            receiver = keyed[start]
        elif mark == "." and start - last_end == 1:
            receiver = chain
        elif mark and mark in ".:>":
            receiver = before(data, start, last_end, chain)
        elif start in dotted and last_end > 0 and (dot := _find_dot(data, last_end, start)):
            receiver = before(data, dot, last_end, chain)
        last_end = end
        chain = f"{receiver}.{name}" if receiver else name
        if start in skipped or within == "import" or (not receiver and (name in hidden or name in ignored)):
            continue
        if within == "inherit":
            use = within
        else:
            use = uses.get(start) or within or _use(data, end, text[end : end + 1])
        row = bisect_right(ends, start)
        column = start - starts[row]
        found.append(Reference(name=name, line=row + 1, column=column, kind=use, receiver=receiver, scope=scope))
    return found


def _find_dotted(data: bytes) -> set[int]:
    """Where names may stand that follow a dot at the end of a line."""
    found: set[int] = set()
    for match in _DOT_BEFORE.finditer(data):
        found.add(match.end())
    return found


def _find_dot(data: bytes, start: int, end: int) -> int:
    """Where the dot ends that stands at the end of a line before a name; 0 when there is none."""
    if b"\n" not in data[start:end]:
        return 0
    if match := _LAST_DOT.fullmatch(data, start, end):
        return match.end(2)
    return 0


def _find_keys(ready: CompiledLanguage, root: Node) -> dict[int, str]:
    """Where literals write members, with the type of the literal as their receiver."""
    from tree_sitter import QueryCursor

    found: dict[int, str] = {}
    if ready.keyed is None:
        return found
    for _, parts in QueryCursor(ready.keyed).matches(root):
        receiver = _read_literal_type(parts)
        for key in parts["key"]:
            if receiver != "?" or key.start_byte not in found:
                found[key.start_byte] = receiver
    return found


def _read_literal_type(parts: dict[str, list[Node]]) -> str:
    """A literal of a type as `Type{}`; what is taken apart as it is written; `?` for what does not tell."""
    if "type" in parts:
        written = (parts["type"][0].text or b"").decode("utf-8", "replace")
        name = _PLAIN_TYPE.match(written.replace("::", "."))
        if name:
            return f"{name[1]}{{}}"
        return "?"
    if "callee" in parts:
        return _read_argument(parts["callee"][0], parts["argument"][0])
    if "value" not in parts:
        return "?"
    value = parts["value"][0]
    if value.type == "call_expression":
        called = value.child_by_field_name("function")
    else:
        called = None
    written = ((called or value).text or b"").decode("utf-8", "replace")
    if not _PLAIN_CHAIN.fullmatch(written):
        return "?"
    if called is not None:
        return f"{written}()"
    return written


def _read_argument(callee: Node, argument: Node) -> str:
    """A literal that is passed to a function, as `function#position`."""
    written = (callee.text or b"").decode("utf-8", "replace")
    around = argument.parent
    if around is None or not _PLAIN_CHAIN.fullmatch(written):
        return "?"
    starts = [each.start_byte for each in around.named_children]
    return f"{written}#{starts.index(argument.start_byte)}"


def _stretches(nodes: Iterable[Node]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for node in nodes:
        found.append((node.start_byte, node.end_byte))
    return found


def _find_words(source: Source, start: int, end: int) -> list[_Name]:
    """Every word of a stretch, as if each were a name of the tree."""
    text = _QUOTED.sub(_blank_out, source.data[start:end])
    found: list[_Name] = []
    for m in _NAME.finditer(text):
        found.append((start + m.start(), start + m.end()))
    return found


def _blank_out(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _use(data: bytes, end: int, first: str) -> str:
    """How a name is used, by what follows it."""
    if first == "(" or (first == "<" and _GENERIC_CALL.match(data, end)):
        return "call"
    if first == " " and len(after := data[end + 1 : end + 3]) == 2:
        if after[0] == _OPEN:
            return "call"
        if after[0] == _EQUALS and after[1] not in b"=>~":
            return "write"
    return "read"


def _reference_imports(made: Outline, source: Source) -> list[Reference]:
    """A reference for each name that an import brings in."""
    found = []
    for each in made.imports:
        name = each.name
        if not name or name in {"*", "default"}:
            continue
        if each.line <= len(source.lines):
            line = source.lines[each.line - 1]
        else:
            line = b""
        found.append(
            Reference(
                name=name,
                line=each.line,
                column=max(0, line.rfind(name.encode())),
                kind="import",
                receiver=each.module,
            )
        )
    return found


def _segments(ranges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Nested ranges flattened: from which byte on which one is innermost."""
    flat: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []
    for start, end, number in ranges:
        while stack and stack[-1][0] <= start:
            closed, _ = stack.pop()
            flat.append((closed, stack[-1][1] if stack else -1))
        flat.append((start, number))
        stack.append((end, number))
    while stack:
        closed, _ = stack.pop()
        flat.append((closed, stack[-1][1] if stack else -1))
    flat.append((_NEVER, -1))
    return flat


def _zones(captures: dict[str, list[Node]]) -> list[tuple[int, str]]:
    """Where all names are used in one way: annotations, bases, decorators, imports."""
    kinds = []
    for capture in captures:
        if capture.startswith("in."):
            kinds.append(capture)
    ranges = sorted(
        ((node.start_byte, -node.end_byte, number) for number, kind in enumerate(kinds) for node in captures[kind])
    )
    flat = _segments([(start, -end, number) for start, end, number in ranges])
    found: list[tuple[int, str]] = []
    for start, number in flat:
        found.append((start, kinds[number][3:] if number >= 0 else ""))
    return found


def _locals(
    declared: Iterable[Node], outside: Iterable[Node], made: Outline, segments: list[tuple[int, int]]
) -> dict[int, frozenset[str]]:
    """The names that are hidden by local variables, for every scope."""
    own: dict[int, set[str]] = {}
    defined = made.names()
    declared = [node for node in declared if node.start_byte not in defined]
    for scope, name in _place_in_scopes(declared, segments):
        own.setdefault(scope, set()).add(name)
    for scope, name in _place_in_scopes(outside, segments):
        own.get(scope, set()).discard(name)
    top = {each.name for each in made.found if each.parent is None}
    top.update(each.alias or each.name or each.module for each in made.imports)
    numbers = {id(each): number for number, each in enumerate(made.found)}
    for each in made.found:  # a function inside a function is a definition, not a variable
        if each.parent is not None and each.kind in CALLABLES:
            own.get(numbers[id(each.parent)], set()).discard(each.name)
    hidden: dict[int, frozenset[str]] = {-1: frozenset(own.get(-1, set()) - top)}
    for number, each in enumerate(made.found):
        around = hidden.get(numbers.get(id(each.parent), -1), frozenset())
        mine = own.get(number)
        if mine and each.kind not in CALLABLES:
            mine = mine - top
        hidden[number] = around | mine if mine else around
    return hidden


def _place_in_scopes(nodes: Iterable[Node], segments: list[tuple[int, int]]) -> Iterable[tuple[int, str]]:
    """Names with the scope they stand in."""
    segment = -1
    for start, name in sorted((node.start_byte, node.text or b"") for node in nodes):
        while start >= segments[segment + 1][0]:
            segment += 1
        yield segments[segment][1] if segment >= 0 else -1, name.decode("utf-8", "replace")
