"""What an agent asks for: one edit of one file, in one of four forms, read from loose arguments.

An agent guesses names and writes numbers as text; what can be understood in only one way is understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from laconic.errors import UsageError
from laconic.records import Span

_FORMS: Final = (
    "Forms: {path, tag, start, end, text} | {path, tag, insert_after or insert_before, text} | "
    "{path, find, text, count} | {path, create: true, text}. Lines are 1-based and inclusive; no text deletes."
)
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("path", "file", "file_path", "filename", "filepath"),
    "tag": ("tag", "version", "hash", "expected_version"),
    "start": ("start", "start_line", "line", "from"),
    "end": ("end", "end_line", "to"),
    "lines": ("lines", "range"),
    "text": ("text", "new_text", "new", "content", "new_content", "new_string", "new_str", "replace", "replacement"),
    "find": ("find", "old", "old_text", "old_string", "old_str", "old_content", "expected_content", "search"),
    "count": ("count", "expected_count", "expected_replacements", "occurrences"),
    "insert_after": ("insert_after", "after", "insert_line"),
    "insert_before": ("insert_before", "before"),
    "create": ("create", "new_file"),
    "delete": ("delete", "remove"),
    "action": ("action", "operation", "op", "type", "mode"),
    "checksum": ("checksum", "sha256", "expected_file_sha256", "expected_sha256", "file_sha256"),
}
_NAMES: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
_LINE: Final = re.compile(r"\s*(?:L|line )?(\d{1,9})(?::([0-9a-z]{2}))?\s*\Z")
_TAGGED: Final = re.compile(r"\[?(.*?)#([0-9a-f]{6,64})(?: \d+ lines?\])?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnchoredLine:
    """A line, with its anchor where the agent read with anchors."""

    line: int
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class ReplaceLines:
    """Replace the lines from start to end; no new lines means delete."""

    start: AnchoredLine
    end: AnchoredLine
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsertLines:
    """Put lines into the gap below a line; 0 is the top of the file."""

    below: int
    named: AnchoredLine  # the line as the agent gave it
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindAndReplace:
    """Replace an exact text everywhere it stands, if it stands there as often as expected."""

    find: str
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class CreateFile:
    """Write a file that does not exist yet."""

    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit; an empty path means: the file that was read with this tag."""

    path: str
    tag: str
    change: ReplaceLines | InsertLines | FindAndReplace | CreateFile

    @property
    def span(self) -> Span | None:
        """The lines it names in the version with its tag."""
        if isinstance(self.change, ReplaceLines):
            return Span(self.change.start.line, self.change.end.line)
        if isinstance(self.change, InsertLines):
            return Span(self.change.named.line, self.change.named.line)
        return None


def edit(given: Mapping[str, object]) -> Edit:
    """An edit from arguments as an agent writes them."""
    known = _rename_keys(given)
    path, tag = _target(known)
    forms = []
    for name in ("start", "insert_after", "insert_before", "find", "create"):
        if name in known:
            forms.append(name)
    if not forms and "text" in known and not tag:
        forms = ["create"]
    if len(forms) != 1:
        raise UsageError(
            "An edit names no place." if not forms else f"An edit has both {' and '.join(forms)}.", _FORMS
        )
    return Edit(path, tag, _change(forms[0], known, tag))


def _change(
    form: str, known: Mapping[str, object], tag: str
) -> ReplaceLines | InsertLines | FindAndReplace | CreateFile:
    text = _text(known, "text")
    if form == "create":
        return CreateFile(text)
    if form == "find":
        find = _text(known, "find").replace("\r\n", "\n")
        if not find:
            raise UsageError("The text to find is empty.", _FORMS)
        return FindAndReplace(find, text, _number(known.get("count", 1), "count").line)
    if not tag:
        raise UsageError("An edit by line needs the tag of the version that was read.", _FORMS)
    new = as_lines(text)
    if form == "start":
        start = _number(known["start"], "start")
        if "end" in known:
            end = _number(known["end"], "end")
        else:
            end = start
        if start.line < 1 or end.line < start.line:
            raise UsageError(f"Lines {start.line} to {end.line} are not a range.", "Lines are 1-based and inclusive.")
        return ReplaceLines(start, end, new)
    if not new:
        raise UsageError("There is nothing to insert.", 'Give text; "\\n" is one empty line.')
    named = _number(known[form], form)
    if form == "insert_after":
        below = named.line
    else:
        below = named.line - 1
    if below < 0:
        raise UsageError("There is no line 0 to insert before.", "Lines are 1-based; the top is insert_before 1.")
    return InsertLines(below, named, new)


def as_lines(text: str) -> tuple[str, ...]:
    """New text as lines; one newline at its end belongs to its last line."""
    if not text:
        return ()
    return tuple(text.replace("\r\n", "\n").removesuffix("\n").split("\n"))


def _rename_keys(given: Mapping[str, object]) -> dict[str, object]:
    known: dict[str, object] = {}
    for key, value in given.items():
        name = _NAMES.get(key.lower().replace("-", "_"))
        if name is None:
            raise UsageError(f"An edit has no field {key!r}.", _FORMS)
        if value is None or value is False:
            continue
        if name in known:
            raise UsageError(f"An edit gives {name} twice.", _FORMS)
        known[name] = value
    action = str(known.pop("action", "")).lower()
    if action in {"create", "delete"}:
        known.setdefault(action, True)
    known.pop("checksum", None)  # ours is the tag, and an expected text says more
    if "lines" in known:
        _spread(known)
    if "find" in known and "tag" not in known and "#" not in str(known.get("path", "")):
        for name in ("start", "end"):  # the exact text is surer than lines of an unknown version
            known.pop(name, None)
    if known.pop("delete", False) and known.get("text"):
        raise UsageError("An edit has both delete and a text.", _FORMS)
    return known


def _spread(known: dict[str, object]) -> None:
    """`lines: "40-52"` or `[40, 52]` as start and end."""
    value = known.pop("lines")
    if isinstance(value, list | tuple):
        ends = [*value]
    else:
        ends = re.split(r"\s*(?:-|\.\.|,)\s*", str(value))
    if len(ends) not in {1, 2} or "start" in known or "end" in known:
        raise UsageError(f"{value!r} is not a range of lines.", _FORMS)
    known["start"], known["end"] = ends[0], ends[-1]


def _target(known: Mapping[str, object]) -> tuple[str, str]:
    path, tag = str(known.get("path", "")), str(known.get("tag", "")).lstrip("#")
    if not tag.isascii():
        raise UsageError("The tag is not one that a read showed.", _FORMS)
    if (tagged := _TAGGED.match(path)) and (not tag or tag == tagged[2]):
        path, tag = tagged[1], tagged[2]
    if (tagged := _TAGGED.match(tag)) and (not path or path == tagged[1]):
        path, tag = tagged[1], tagged[2]
    if not path and not tag:
        raise UsageError("An edit names no file.", _FORMS)
    return path, tag


def _number(value: object, name: str) -> AnchoredLine:
    if isinstance(value, int | str) and not isinstance(value, bool):
        match = _LINE.match(str(value))
    else:
        match = None
    if match is None:
        raise UsageError(f"{name} is {value!r}, not a line number.", _FORMS)
    return AnchoredLine(int(match[1]), match[2] or "")


def _text(known: Mapping[str, object], name: str) -> str:
    value = known.get(name, "")
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "".join(f"{line}\n" for line in value)
    if not isinstance(value, str):
        raise UsageError(f"{name} is {type(value).__name__}, not a text.", _FORMS)
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise UsageError(
            f"{name} holds half a surrogate pair, which no file can hold.", "Send whole characters."
        ) from None
    return value
