"""Findings as text: numbers first, then one line each under its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from laconic.records import Finding


def heading(tool: str, total: int, severities: Mapping[str, int], files: int, tests: str = "") -> str:
    """`ruff: 21 findings (3 errors, 18 warnings) in 4 files`."""
    said = ", ".join(f"{n} {word}{'' if n == 1 or word == 'info' else 's'}" for word, n in severities.items())
    where = ""
    if files:
        where = f" in {files} file{'' if files == 1 else 's'}"
    return f"{tool}: {total} finding{'' if total == 1 else 's'}{f' ({said})' if said else ''}{where}{tests}"


def counts(label: str, numbers: Mapping[str, int]) -> str:
    """`by category: S 9, SIM 7`."""
    return f"{label}: " + ", ".join(f"{name} {n}" for name, n in numbers.items())


def finding_line(items: Sequence[Finding], *, severity: bool, context: Sequence[str] = ()) -> str:
    """One finding, or several that differ only in their lines; the severity only where findings differ in it."""
    item = items[0]
    places = ",".join(str(one.span) for one in items if one.span)
    line = " ".join(part for part in (places or "-", item.severity if severity else "", item.rule, item.test) if part)
    if item.symbol and item.symbol != item.test:
        line += f" in {item.symbol}"
    if item.message:
        line += f": {item.message}"
    return "\n".join([line, *(f"  {text}" for text in context)])
