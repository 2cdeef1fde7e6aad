"""Tell which tool wrote an output, and read it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from laconic.errors import UsageError
from laconic.reduce.findings import builds_and_tests, json_reports, linters, xml_reports
from laconic.reduce.findings.findings import Findings, plain

_LONGEST: Final = 2000  # characters of a line that patterns look at: no message is longer, and some patterns are slow
_TEXT: Final[tuple[tuple[str, Callable[[str], Findings]], ...]] = (
    (r"^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$|^\d+ (?:passed|failed).* in [\d.]+s"
     r"|^\w+ while loading conftest '",
     builds_and_tests.pytest),
    (r"^> Task :|^BUILD FAILED in|^BUILD SUCCESSFUL in", builds_and_tests.gradle),
    (r"^\[(?:INFO|ERROR|WARNING)\] ", builds_and_tests.maven),
    (r"^test result: |^(?:error|warning)(?:\[\w+\])?: .*\n(?:.*\n)?\s*--> |^error: could not compile",
     builds_and_tests.cargo),
    (r"^(?:--- FAIL: |FAIL\t|ok  \t|=== RUN )|^# [\w./-]+(?: \[.*\])?$|^(?:vet: )?\S+\.go:\d+:\d+: ",
     builds_and_tests.go),
    (r"\berror TS\d+: |^Found \d+ errors? in \d+ files?\.", linters.tsc),
    (r" - (?:error|warning): .*\(report\w+\)$|^\d+ errors?, \d+ warnings?, \d+ informations?", linters.pyright),
    (r"\.java:\d+: (?:error|warning): ", linters.javac),
    (r"^\S.*:\d+:\t\w+:\t", linters.pmd),
    (r"^✖ \d+ problems?|\[(?:Error|Warning)/[\w@/-]+\]$|^\s+\d+:\d+\s+(?:error|warning)\s+.*\s{2}\S+$", linters.eslint),
    (r": (?:error|note|warning): .*\[[\w-]+\]$|^Found \d+ errors? in \d+ files? \(checked|^Success: no issues",
     linters.mypy),
    (r"^\S.*:\d+:\d+: [A-Z]+\d+ |^[A-Z]+\d+ .*\n\s+--> |^All checks passed!", linters.ruff),
)  # fmt: skip


def read(output: str) -> Findings:
    """The findings in an output, whatever tool it is from."""
    if "\0" in output:
        raise UsageError("The output is binary.", "Give the text, JSON or XML that an analyser printed.")
    body = plain(output).lstrip("\ufeff")
    start = body.lstrip()[:1]
    if start == "<":
        return xml_reports.read(body)
    if start in {"{", "["} and (found := _json(body)) is not None:
        return found
    short = "\n".join(line[:_LONGEST] for line in body.split("\n"))
    for pattern, parser in _TEXT:
        if re.search(pattern, short, re.MULTILINE):
            return parser(short)
    found = linters.generic(short)
    if found.items or not short.strip():
        return found
    raise UsageError(
        "The output comes from no known tool.", "Known: SARIF, JUnit, and the usual linters and test runners."
    )


def _json(body: str) -> Findings | None:
    try:
        return json_reports.read(json.loads(body))
    except (json.JSONDecodeError, RecursionError):
        pass
    rows = []
    for line in body.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except (json.JSONDecodeError, RecursionError):
                continue
    if rows:
        return json_reports.read_rows(rows)
    return None
