"""Numbers and names as people write them."""

from __future__ import annotations


def count_of(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2,900 files`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or noun + 's'}"
