"""Numbers of things in words."""

from __future__ import annotations


def count_of(number: int, word: str) -> str:
    """`1 file`, `2 files`."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}s"


def count_in(number: int, words: str) -> str:
    """The same from the plural: `1 entry`, `2 entries`."""
    if number != 1:
        return f"{number} {words}"
    if words.endswith("ies"):
        return f"1 {words[:-3]}y"
    return f"1 {words.removesuffix('s')}"
