"""What a parser gives back, and the words that all parsers share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.records import Finding, Span

_ERRORS: Final = frozenset({"error", "fatal", "failure", "failed", "high", "critical", "blocker", "1"})
_WARNINGS: Final = frozenset({"warning", "warn", "medium", "major", "normal", "2", "3"})
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Findings(msgspec.Struct, frozen=True):
    """All findings of one output, and what the tool itself says how many there are."""

    tool: str
    items: tuple[Finding, ...]
    claimed: int | None = None  # None: it does not say
    passed: int | None = None  # of a test run
    skipped: int = 0


def join_findings(parts: Sequence[Findings]) -> Findings:
    """Those of several reports as one."""
    tools: dict[str, None] = {}
    items: dict[Finding, None] = {}
    passed, skipped = 0, 0
    for part in parts:
        tools[part.tool] = None
        items |= dict.fromkeys(part.items)
        passed += part.passed or 0
        skipped += part.skipped
    tested = any(part.passed is not None for part in parts)
    return Findings(
        tool=", ".join(tools), items=tuple(items), claimed=None, passed=passed if tested else None, skipped=skipped
    )


def severity(word: object) -> str:
    """One of error, warning, info."""
    name = str(word).lower()
    if name in _ERRORS:
        return "error"
    if name in _WARNINGS:
        return "warning"
    return "info"


def span(start: object, end: object = None) -> Span | None:
    """Lines from what a tool wrote; None where it names none."""
    first = number(start)
    if first > 0:
        return Span(first, max(first, number(end)))
    return None


def number(value: object) -> int:
    """A number from a field that may be missing, a text or nonsense."""
    try:
        return int(str(value))
    except ValueError:
        return 0


def text(fields: Mapping[str, object], *names: str) -> str:
    """The first of some fields that is there, as one line."""
    for name in names:
        if value := fields.get(name):
            return " ".join(str(value).split())
    return ""


def plain(output: str) -> str:
    """Output without colours, and with plain newlines."""
    return _ANSI.sub("", output).replace("\r\n", "\n").replace("\r", "\n")
