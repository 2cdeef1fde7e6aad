"""How test runners report a failure: names, places, assertions, and the source they print around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.parts import COMMON, DETAIL, KEY, NEAR, NOISE, PLACE, RARE, TOP

_NAME: Final = re.compile(
    r"(?:FAILED|ERROR|FAIL|XPASS)[: ]+\S|\s*--- FAIL:|FAIL\b|\s*(?:✕|✗|✖|×|●|✘) |\s+\d+\) \S|test .* \.\.\. FAILED"
    r"|-{4} .* stdout -{4}$|\s*not ok \d|\[ERROR\]\s+\w+[.#]\w+|failures:$|Failures:$|\[gw\d+\] \[ *\d+%\] FAILED"
    r"|thread '.*' .*panicked|panic: |Failed examples:|rspec \./"
)
_NAMED_LAST: Final = re.compile(
    r"(?:\.\.\. |\s)(?:FAIL|ERROR|FAILED)(?:\s*\[\s*\d+%\])?$|<<< (?:FAILURE|ERROR)!|^\S+ > .* FAILED$"
)
_PLACE: Final = re.compile(
    r"^[\w./\\<>@+-]+\.\w+:\d+: ?(?:\w*(?:Error|Exception|Failed|Failure|Warning|Exit|Interrupt|Skipped)\b.*)?$"
    r"|^\s+(?:at |❯ |# ).*:\d+(?::\d+)?|^\s+\S+_test\.go:\d+: |^\s+Error Trace:|^\s*❯ \S+:\d+:\d+"
    r"|^\s+left: |^\s+right: "
    r"|^\s+Error:\s|^\s+(?:Expected|Received|Actual|expected|actual|got|want)\b.*:"
)
_FAILING: Final = re.compile(r"^> {3,}\S|^\s*> +\d+ \|")
_COMPARED: Final = re.compile(r"^\s*[+-] ?\S")
_HEADING: Final = re.compile(r"^_{3,} .+ _{3,}$|^={3,} (?:FAILURES|ERRORS|short test summary).*={3,}$")
_SECTION_END: Final = re.compile(r"^={3,} .*={3,}$|^_{3,} .+ _{3,}$")
_ASSERTION: Final = re.compile(r"^E(?:  |$)")
_ASSERTION_LINES: Final = 12
_QUIET: Final = re.compile(
    r"^={3,} (?:warnings summary|PASSES|slowest|test session starts|passes).*={3,}$|^-+ coverage"
)
_CAPTURED: Final = re.compile(r"^-{3,} Captured .* -{3,}$")


def failure_worth(line: str) -> int:
    """What a line of a test runner's failure report is worth; 0 when it is none."""
    if _NAME.match(line) or (("FAIL" in line or "ERROR" in line) and _NAMED_LAST.search(line)):
        return TOP
    if _HEADING.match(line) or _FAILING.match(line):
        return KEY
    if _PLACE.match(line):
        return PLACE
    if _COMPARED.match(line):
        return NEAR
    return 0


def section_worths(lines: Sequence[str]) -> dict[int, int]:
    """pytest's sections: source above the failing line is detail, assertions stay, warnings and passes step back."""
    worths: dict[int, int] = {}
    inside = quiet = False
    assertions = 0
    for index, line in enumerate(lines):
        if line.startswith(("___", "===")) and _SECTION_END.match(line):
            quiet = _QUIET.match(line) is not None
            inside = line.startswith("_") or " FAILURES " in line or " ERRORS " in line
            assertions = 0
            if quiet:
                worths[index] = COMMON
        elif inside:
            worth = _inside(line, assertions)
            if _ASSERTION.match(line):
                assertions = assertions + 1
            else:
                assertions = 0
            if worth >= 0:
                worths[index] = worth
            if line.startswith(">"):
                _raise_before(lines, worths, index)
        elif quiet and line.strip() and not signals.is_passing(line):
            worths[index] = DETAIL if signals.is_warning(line) else COMMON
    return worths


def _inside(line: str, assertions: int) -> int:
    if not line.strip():
        return NOISE
    if _ASSERTION.match(line):
        if not line[1:].strip():
            return NOISE
        if assertions < _ASSERTION_LINES:
            return KEY
        return DETAIL
    if line.startswith(">"):
        return KEY
    if _PLACE.match(line):
        return KEY
    if _CAPTURED.match(line):
        return NEAR
    if line.startswith("    ") and not signals.FRAME.match(line):
        if signals.CARETS.match(line):
            return NOISE
        return DETAIL
    if signals.RULE.match(line):
        return NOISE
    if signals.FRAME.match(line) or signals.is_error(line):
        return -1
    return RARE


def _raise_before(lines: Sequence[str], worths: dict[int, int], index: int) -> None:
    """The two source lines above the failing one are worth reading."""
    for before in range(max(0, index - 2), index):
        if worths.get(before) == DETAIL and lines[before].strip():
            worths[before] = RARE
