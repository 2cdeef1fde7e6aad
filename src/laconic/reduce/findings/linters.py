"""Line-oriented outputs of linters and compilers: ruff, mypy, pyright, ESLint, tsc, javac, and anything alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from laconic.records import Finding
from laconic.reduce.findings.findings import Findings, number, severity, span

_RUFF: Final = re.compile(
    r"^(?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<rule>[A-Z]+\d+|SyntaxError:|invalid-syntax:) ?(?:\[\*\] )?(?P<message>.*)$",
    re.M,
)
_RUFF_FULL: Final = re.compile(
    r"^(?P<rule>[A-Z]+\d+|invalid-syntax:?|SyntaxError:?) (?:\[\*\] )?(?P<message>.*)\n\s+--> "
    r"(?P<path>.*):(?P<line>\d+):(?P<column>\d+)$",
    re.M,
)
_RUFF_TOTAL: Final = re.compile(r"^Found (\d+) errors?", re.M)
_MYPY: Final = re.compile(
    r"^(?P<path>\S.*?):(?P<line>\d+):(?:(?P<column>\d+):)?(?:(?P<end>\d+):\d+:)? "
    r"(?P<level>error|warning): (?P<message>.*?)(?:  \[(?P<rule>[\w-]+)\])?$",
    re.M,
)
_MYPY_START: Final = re.compile(r"\S.*?:\d+:(?:\d+:)* (?:error|warning|note): |Found \d+ errors? in|Success: ")
_MYPY_END: Final = re.compile(r"  \[[\w-]+\]$|^Found |^Success")
_MYPY_TOTAL: Final = re.compile(r"^Found (\d+) errors? in", re.M)
_PYRIGHT: Final = re.compile(
    r"^\s+(?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+) - (?P<level>error|warning|information): "
    r"(?P<message>(?:.*\n(?=\s{4}))*.*?)(?: \((?P<rule>report\w+)\))?$",
    re.M,
)
_PYRIGHT_TOTAL: Final = re.compile(r"^(\d+) errors?, (\d+) warnings?, (\d+) informations?", re.M)
_STYLISH: Final = re.compile(
    r"^\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<level>error|warning)\s+(?P<message>.*?)(?:\s{2,}(?P<rule>\S+))?$"
)
_UNIX: Final = re.compile(
    r"^(?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*) \[(?P<level>Error|Warning)(?:/"
    r"(?P<rule>\S+))?\]$",
    re.M,
)
_ESLINT_TOTAL: Final = re.compile(r"^(?:✖ )?(\d+) problems?\b", re.M)
_TSC: Final = re.compile(
    r"^(?P<path>\S.*?)(?:\((?P<line>\d+),(?P<column>\d+)\)|:(?P<line2>\d+):(?P<column2>\d+))(?:: | - )"
    r"(?P<level>error|warning) (?P<rule>TS\d+): (?P<message>.*)$",
    re.M,
)
_TSC_GLOBAL: Final = re.compile(r"^error (?P<rule>TS\d+): (?P<message>.*)$", re.M)
_TSC_TOTAL: Final = re.compile(r"^Found (\d+) errors?", re.M)
_JAVAC: Final = re.compile(
    r"^(?:(?:(?::[\w.-]+)+(?=/))?(?P<path>\S.*?\.java):(?P<line>\d+): )?"  # Gradle writes its task before the first
    r"(?P<level>error|warning): (?:\[(?P<rule>[\w-]+)\] )?(?P<message>.*)$",
    re.M,
)
_JAVAC_TOTAL: Final = re.compile(r"^(\d+) (errors?|warnings?)$", re.M)
_PMD: Final = re.compile(r"^(?P<path>\S.*?):(?P<line>\d+):\t(?P<rule>\w+):\t(?P<message>.*)$", re.M)
_GENERIC: Final = re.compile(
    r"^(?P<path>[^\s:][^:\n]*\.\w+):(?P<line>\d+):(?:(?P<column>\d+):)?\s*(?:"
    r"(?P<level>fatal error|error|warning|note|info|Error|Warning)\b:?)?\s*(?P<message>\S.*)$",
    re.M,
)


def ruff(output: str) -> Findings:
    """The full and the concise form."""
    if _RUFF_FULL.search(output):
        pattern = _RUFF_FULL
    else:
        pattern = _RUFF
    items = []
    for match in pattern.finditer(output):
        rule = match["rule"].rstrip(":")
        family = re.match(r"[A-Z]+(?=\d)", rule)
        items.append(_finding(match, "ruff", rule=rule, category=family[0] if family else "syntax"))
    return Findings("ruff", tuple(items), _total(_RUFF_TOTAL, output))


def mypy(output: str) -> Findings:
    """Both forms; the pretty one breaks messages over lines and quotes the source below them."""
    whole = _join_broken(output)
    items = tuple(_finding(match, "mypy", rule=match["rule"] or "syntax") for match in _MYPY.finditer(whole))
    return Findings("mypy", items, _total(_MYPY_TOTAL, output))


def _join_broken(output: str) -> str:
    """The output with every message on one line: it ends at its rule, and what is quoted below it is indented."""
    lines: list[str] = []
    is_open = False
    for line in output.split("\n"):
        if is_open and line and not line.startswith(" ") and not _MYPY_START.match(line):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
            is_open = bool(_MYPY_START.match(line))
        is_open = is_open and not _MYPY_END.search(line)
    return "\n".join(lines)


def pyright(output: str) -> Findings:
    items = tuple(_finding(match, "pyright", rule=match["rule"] or "syntax") for match in _PYRIGHT.finditer(output))
    return Findings("pyright", items, _total(_PYRIGHT_TOTAL, output))


def eslint(output: str) -> Findings:
    """The stylish and the unix form."""
    unix = []
    for match in _UNIX.finditer(output):
        unix.append(_finding(match, "eslint", rule=match["rule"] or "parse-error"))
    return Findings("eslint", tuple(unix or _stylish(output)), _total(_ESLINT_TOTAL, output))


def _stylish(output: str) -> Iterator[Finding]:
    path = ""
    for line in output.split("\n"):
        if match := _STYLISH.match(line):
            yield _finding(match, "eslint", rule=match["rule"] or "parse-error", path=path)
        elif line and not line.startswith((" ", "✖")):
            path = line.strip()


def tsc(output: str) -> Findings:
    items = []
    for match in _TSC.finditer(output):
        items.append(_finding(match, "tsc", rule=match["rule"]))
    for match in _TSC_GLOBAL.finditer(output):
        items.append(
            Finding(
                path="",
                rule=match["rule"],
                severity="error",
                category=match["rule"],
                message=match["message"],
                tool="tsc",
            )
        )
    return Findings("tsc", tuple(items), _total(_TSC_TOTAL, output))


def javac(output: str, tool: str = "javac") -> Findings:
    items = tuple(_finding(match, tool, rule=match["rule"] or "compiler") for match in _JAVAC.finditer(output))
    counts = []
    for match in _JAVAC_TOTAL.finditer(output):
        counts.append(int(match[1]))
    return Findings(tool, items, sum(counts) if counts else None)


def pmd(output: str) -> Findings:
    """The text form, which says no priority."""
    items = (_finding(match, "pmd", rule=match["rule"], level="warning") for match in _PMD.finditer(output))
    return Findings("pmd", tuple(items))


def generic(output: str) -> Findings:
    """`path:line:column: message`, as most compilers write."""
    items = []
    for match in _GENERIC.finditer(output):
        items.append(_finding(match, "compiler", rule=""))
    return Findings("compiler", tuple(items))


def _finding(
    match: re.Match[str], tool: str, *, rule: str, path: str = "", category: str = "", level: str = ""
) -> Finding:
    fields = match.groupdict()
    line = fields.get("line") or fields.get("line2")
    return Finding(
        path=path or (fields.get("path") or "").strip(),
        span=span(line, fields.get("end")),
        column=number(fields.get("column") or fields.get("column2") or 0),
        rule=rule,
        severity=severity(level or fields.get("level") or "error"),
        category=category or rule,
        message=" ".join(fields["message"].split()),
        tool=tool,
    )


def _total(pattern: re.Pattern[str], output: str) -> int | None:
    match = pattern.search(output)
    if match:
        return sum(int(part) for part in match.groups())
    return None
