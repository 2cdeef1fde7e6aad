"""Choose findings by severity, category, rule or file, and count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Final

import msgspec

from laconic.records import Finding

MOST: Final = 200  # findings in one answer
_ORDER: Final = {"error": 0, "warning": 1, "info": 2}


class FindingFilter(msgspec.Struct, frozen=True):
    """What is asked for; empty means all."""

    severity: str = ""  # this or worse
    category: str = ""
    rule: str = ""
    path: str = ""  # a file, a folder or a pattern


class FindingSummary(msgspec.Struct, frozen=True):
    """Findings in numbers."""

    total: int
    severities: dict[str, int]
    categories: dict[str, int]  # the most frequent first
    files: dict[str, int]


def summary(items: Sequence[Finding], most: int = 10) -> FindingSummary:
    """The totals, with the most frequent categories and files."""
    severities = Counter(item.severity for item in items)
    return FindingSummary(
        total=len(items),
        severities={word: severities[word] for word in _ORDER if severities[word]},
        categories=_frequent([item.category for item in items if item.category], most),
        files=_frequent([item.path for item in items if item.path], most),
    )


def _frequent(names: Sequence[str], most: int) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0]))[:most])


def select(items: Sequence[Finding], wanted: FindingFilter) -> list[Finding]:
    """All findings that are asked for, the worst first, then by place."""
    worst = _ORDER.get(wanted.severity, len(_ORDER))
    chosen = []
    for item in items:
        if _ORDER.get(item.severity, 2) <= worst and _matches(item, wanted):
            chosen.append(item)
    return sorted(
        chosen, key=lambda item: (_ORDER.get(item.severity, 2), item.path, item.span.start if item.span else 0)
    )


def _matches(item: Finding, wanted: FindingFilter) -> bool:
    if wanted.category and item.category.lower() != wanted.category.lower():
        return False
    if wanted.rule and not fnmatch(item.rule.lower(), wanted.rule.lower()):
        return False
    place = wanted.path.rstrip("/")
    return not place or item.path == place or item.path.startswith(f"{place}/") or fnmatch(item.path, wanted.path)
