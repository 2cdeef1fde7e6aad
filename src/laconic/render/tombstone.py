"""What stands in the place of text that was left out: what it was, how much, why, and how to get it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_LONGEST: Final = 60  # tokens
_NAMED: Final = 32  # characters of a target that are shown; the call above it has the whole


def tombstone(what: str, target: str, left: tuple[int, str, str], cost: Callable[[str], int]) -> str:
    """At most 60 tokens; the target gives way first. `left`: how many lines, why, and where they are kept."""
    lines, why, ref = left
    size = f"{lines} line{'' if lines == 1 else 's'} left out"
    tail = f"laconic recall {ref}" if ref else "not retained"
    for length in (_NAMED, 16, 0):
        named = _short(target, length)
        text = f"[{' '.join(word for word in (what[:40], named) if word)}: {size}{', ' + why if why else ''}; {tail}]"
        if cost(text) <= _LONGEST:
            return text
    return f"[{size}; {tail}]"


def partly(out: int, total: int, ref: str) -> str:
    """The last line of a text of which some rows were left out."""
    return f"[… {out} of {total} lines left out; laconic recall {ref}]"


def _short(target: str, length: int) -> str:
    """The name of a file, and the start of anything else."""
    target = " ".join(target.split())
    if length and "/" in target and " " not in target:
        target = target.rstrip("/").rsplit("/", 1)[-1]
    return target if len(target) <= length else f"{target[: length - 1]}…" if length else ""
