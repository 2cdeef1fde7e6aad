"""Compiler and linter output as one line per finding: place, severity, code, message; the source they print goes.

Findings of one file with the same message share a line that lists their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.parts import COMMON, KEY, NEAR, NOISE, PLACE, TOP, UNSAID, TextPart, shorten

_PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"|]+(?: [^\s:()]+)*?\.[A-Za-z]\w{0,9}|[\w./\\@+-]*[\w/])"
_SEVERITY: Final = r"(?P<severity>fatal error|error|warning|warn|note|info|information|hint|help|convention|style)"
# path:line:col: [severity:] message, also path(line,col): and pretty `path:line:col - error`
_PLACED: Final = re.compile(
    rf"^(?:\[[A-Z]+\] )?{_PATH}(?::(?P<line>\d+)(?::(?P<col>\d+))?(?:-\d+(?::\d+)?)?"
    rf"|[(\[](?P<line2>\d+)(?:[,:](?P<col2>\d+))?[)\]])"
    rf"\s*(?::|-(?=\s))?\s*(?:{_SEVERITY}(?=\s*(?::|\[|[A-Z]+\d+:))(?:\[[\w-]+\])?)?:?\s*(?P<message>\S.*)$"
)
# error[E0433]: message / CODE message, with `--> path:line:col` below
_HEADED: Final = re.compile(
    r"^(?:(?P<severity>error|warning|note)(?:\[(?P<code>[\w:-]+)\])?: |(?P<rule>[A-Z]{1,5}\d{2,5}"
    r"|[a-z]+(?:-[a-z]+)+) (?:\[\*\] )?)(?P<message>\S.*)$"
)
_ARROW: Final = re.compile(r"^\s*(?:-->|╭─\[|┌─|at) ?(?P<path>[^\s:]+):(?P<line>\d+)(?::(?P<col>\d+))?")
# eslint stylish: a path alone, then `  12:3  warning  message  rule`
_INDENTED: Final = re.compile(rf"^\s+(?P<line>\d+):(?P<col>\d+)\s+(?:{_SEVERITY}\s+)?(?P<message>\S.*)$")
_ALONE: Final = re.compile(r"^(?:/|\./|\.\./|[A-Za-z]:\\)?[\w@.-]+(?:[/\\][\w@. \[\]()-]+)*\.\w{1,6}$")
_CODE: Final = re.compile(r"^(?:TS\d+|[A-Z]{1,5}\d{2,5}|SC\d+|CS\d+|C\d{4})(?=[:\s])")
_TAIL_CODE: Final = re.compile(
    r"(?:\s{2,}(?P<rule>[@\w/-]+)| \[(?P<bracket>[\w=+.-]+(?:\[[\w-]+\])?)\]| \((?P<linter>[\w-]+)\))$"
)
_GUTTER: Final = re.compile(r"^\s*(?:\d+\s*)?[|│](?:\s|$)|^\s*\d+ \| |^\s*\.\.\.$|^\d+ +\S.*$")
_NOTE: Final = re.compile(
    r"^\s*(?:= )?(?P<word>help|note|symbol|location|required|found|reason|expected|where"
    r"|see)\s*: *(?P<rest>\S.*)",
    re.IGNORECASE,
)
_ELABORATION: Final = re.compile(
    r"^\s{2,}(?:Type|Property|Argument|Types|The|Overload|Object|Did|Source|Target|'|\")\S* .*[.\w'\"]$"
)
_SOURCE: Final = re.compile(
    r"^(?:[})\]]+[;,)]*$|(?:func|def|class|import|from|use|public|private|package|const|let|var|type"
    r"|static|void|int|@\w+)\b.*)"
)
_TALLY: Final = re.compile(r"^\s*[*-] [\w./-]+: \d+$")
_LOCATIONS: Final = 170  # characters of a list of lines before its place is said again
_MESSAGE: Final = 240
_DETAIL: Final = 160
_NOTES: Final = 2

_Key = tuple[str, str, str, str]  # path, severity, code, message


@dataclass(slots=True)
class Diagnostic:
    """One diagnostic as it was printed."""

    path: str
    line: str
    col: str
    severity: str
    code: str
    message: str
    lines: int = 1
    details: list[str] = field(default_factory=list)  # what makes it another finding: the symbol, the types
    notes: list[str] = field(default_factory=list)  # advice, said once


def looks_placed(line: str) -> bool:
    """The line is a finding: a place with a severity, a code or a linter's name."""
    found = _PLACED.match(line)
    if found is None:
        return False
    message = found["message"]
    return bool(
        found["severity"] or _CODE.match(message) or (_TAIL_CODE.search(message) and line[found.end("path")] == ":")
    )


def looks_headed(line: str, following: Sequence[str]) -> bool:
    """The line heads a finding whose place stands on the next lines."""
    if not _HEADED.match(line):
        return False
    for text in following:
        if _ARROW.match(text) or _HEADED.match(text):
            return _ARROW.match(text) is not None
    return False


def looks_indented(line: str) -> bool:
    """One row of a list of findings below a path."""
    found = _INDENTED.match(line)
    return found is not None and bool(found["severity"])


def diagnostic_parts(lines: Sequence[str]) -> list[TextPart]:
    """One part per distinct finding of a file, other lines by what they say."""
    items: list[Diagnostic | str] = []
    _read(lines, items)
    return _group(items)


def _read(lines: Sequence[str], items: list[Diagnostic | str]) -> None:
    """Split into findings and other lines; lines that illustrate a finding are counted in it."""
    current: Diagnostic | None = None
    path = ""
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if found := _finding(line, path, lines[index : index + 3]):
            if not found.path:  # its place follows
                arrow = next((m for m in map(_ARROW.match, lines[index : index + 3]) if m), None)
                if arrow:
                    found.path, found.line, found.col = arrow["path"], arrow["line"], arrow["col"] or ""
            current = found
            items.append(found)
        elif _ALONE.match(line) and not _illustrates(line):
            path, current = line, None
        elif current is not None and _belongs(line, current):
            current.lines += 1 if line.strip() else 0
        elif line.strip():
            items.append(line)
            current = None


def _finding(line: str, path: str, following: Sequence[str]) -> Diagnostic | None:
    if path and (found := _INDENTED.match(line)) and (found["severity"] or _TAIL_CODE.search(line)):
        code, message = _split_code(found["message"])
        return Diagnostic(
            path=path,
            line=found["line"],
            col=found["col"],
            severity=found["severity"] or "",
            code=code,
            message=message,
        )
    if looks_placed(line):
        found = _PLACED.match(line)
        assert found is not None
        code, message = _split_code(found["message"])
        line_number = found["line"] or found["line2"]
        return Diagnostic(
            path=found["path"],
            line=line_number,
            col=found["col"] or found["col2"] or "",
            severity=found["severity"] or "",
            code=code,
            message=message,
        )
    if looks_headed(line, following):
        found = _HEADED.match(line)
        assert found is not None
        return Diagnostic(
            path="",
            line="",
            col="",
            severity=found["severity"] or "",
            code=found["code"] or found["rule"] or "",
            message=found["message"],
        )
    return None


def _split_code(message: str) -> tuple[str, str]:
    """A message parted from its code, which stands before or behind it."""
    if found := _CODE.match(message):
        return found.group(), message[found.end() :].lstrip(": ")
    if found := _TAIL_CODE.search(message):
        return next(text for text in found.groups() if text), message[: found.start()].rstrip()
    return "", message


def _illustrates(line: str) -> bool:
    return _GUTTER.match(line) is not None


def _belongs(line: str, finding: Diagnostic) -> bool:
    """The line illustrates the finding; what it adds in words is kept as a note."""
    if not line.strip() or _ARROW.match(line) or signals.CARETS.match(line):
        return True
    if signals.is_summary(line) and not line.startswith((" ", "\t")):
        return False
    if note := _NOTE.match(line):
        advice = note["word"].lower() in {"help", "note", "see", "reason"}
        _add(finding.notes if advice else finding.details, f"{note['word']}: {' '.join(note['rest'].split())}")
        return True
    if _GUTTER.match(line):
        label = re.search(r"[\^~]+ (?P<label>[a-z`'].*)$", line)
        if label and label["label"] not in finding.message:
            _add(finding.details, label["label"])
        return True
    if _ELABORATION.match(line):
        _add(finding.details, line.strip())
        return True
    return (
        line.startswith((" ", "\t"))
        or _SOURCE.match(line) is not None
        or (finding.lines < 3 and not signals.is_error(line))
    )


def _add(notes: list[str], note: str) -> None:
    if len(notes) < _NOTES and note not in notes:
        notes.append(note)


def _group(items: Sequence[Diagnostic | str]) -> list[TextPart]:
    groups: dict[_Key, list[Diagnostic]] = {}
    order: list[_Key | str] = []
    for item in items:
        if isinstance(item, str):
            order.append(item)
            continue
        message = " | ".join([shorten(item.message, _MESSAGE), *(shorten(text, _DETAIL) for text in item.details)])
        key = (item.path, item.severity, item.code, message)
        if key not in groups:
            groups[key] = []
            order.append(key)
        groups[key].append(item)
    parts: list[TextPart] = []
    folder, head = "", -1
    said: set[str] = set()
    for entry in order:
        if isinstance(entry, str):
            parts.append(_other(entry))
            continue
        group = groups[entry]
        parent, name = _split(entry[0])
        if parent != folder or head < 0:
            folder, head = parent, -1
            if parent:
                parts.append(TextPart(parent, PLACE, 0))
                head = len(parts) - 1
        if "err" in entry[1] or not entry[1] or len(groups) < 60:
            worth = KEY
        else:
            worth = NEAR
        if entry[1] in {"note", "help", "info", "hint"} and len(groups) > 200:
            worth = NEAR
        whole = len(group) == 1 or not any(finding.col for finding in group)
        for text in _write_group(name, entry, group, said):
            parts.append(TextPart(text=text, worth=worth, lines=1, what="findings", head=head, whole=whole))
        parts.append(TextPart("", NOISE, sum(finding.lines - 1 for finding in group), UNSAID))
    return parts


def _write_group(name: str, key: _Key, group: Sequence[Diagnostic], said: set[str]) -> list[str]:
    """One or more lines for the findings of a file that say the same."""
    _, severity, code, message = key
    notes = []
    for note in group[0].notes:
        if note not in said:
            notes.append(note)
    said.update(group[0].notes)
    words = " ".join(word for word in (severity if severity != "error" or not code else "", code) if word)
    tail = " | ".join([message, *(shorten(note, _DETAIL) for note in notes)])
    say = f"{words} {tail}".strip()
    if len(group) == 1 or not group[0].line:
        only = group[0]
        place = f"{name}:{only.line}" + (f":{only.col}" if only.col else "")
        return [f"{place} {say}"]
    rows: list[str] = []
    numbers: list[str] = []
    for finding in group:
        if finding.line not in numbers[-1:]:
            numbers.append(finding.line)
        if sum(len(n) + 1 for n in numbers) > _LOCATIONS:
            rows.append(f"{name}:{','.join(numbers)} {say}")
            numbers = []
            say = f"{words} {shorten(message, 80)}".strip()
    if numbers:
        rows.append(f"{name}:{','.join(numbers)} {say}")
    return rows


def _split(path: str) -> tuple[str, str]:
    """Folder with its slash, and name."""
    cut = max(path.rfind("/"), path.rfind("\\")) + 1
    return path[:cut], path[cut:]


def _other(line: str) -> TextPart:
    if signals.is_summary(line) or _TALLY.match(line):
        return TextPart(line, TOP)
    if line.startswith((" ", "\t")) and signals.is_error(line) and len(line) < 200:
        return TextPart(line, NEAR)
    if signals.RULE.match(line) or signals.CARETS.match(line):
        return TextPart(line, NOISE, what="rules")
    text = shorten(line, 400)
    if signals.is_error(line):
        return TextPart(text, KEY)
    if signals.is_progress(line):
        return TextPart(text, COMMON, what="progress lines")
    return TextPart(text, NEAR)
