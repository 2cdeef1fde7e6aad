"""Conditions that keep a query within some files or kinds."""

from __future__ import annotations

from collections.abc import Sequence


def limit_to(inside: str | None, column: str) -> tuple[str, tuple[str, ...]]:
    """A condition on a column with file ids, and its parameters. `inside` is a JSON list of ids; None: all files."""
    if inside is None:
        return "", ()
    return f" AND {column} IN (SELECT value FROM json_each(?))", (inside,)


def mark(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))
