"""Numbers of things in words."""

from __future__ import annotations


def count_of(number: int, word: str) -> str:
    """`1 file`, `2 files`."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}s"
