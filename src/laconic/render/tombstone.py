"""What stands in the place of text that was left out: what it was, how much, why, and how to get it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_LONGEST: Final = 60  # tokens
_NAMED: Final = 60  # characters of a target that are shown


def tombstone(what: str, target: str, left: tuple[int, str, str], cost: Callable[[str], int]) -> str:
    """At most 60 tokens; the target gives way first. `left`: how many lines, why, and where they are kept."""
    lines, why, ref = left
    size = f"{lines} line{'' if lines == 1 else 's'} left out"
    tail = f"laconic recall {ref}" if ref else "not retained"
    for length in (_NAMED, 24, 0):
        named = _short(target, length)
        text = f"[{' '.join(word for word in (what[:40], named) if word)}: {size}{', ' + why if why else ''}; {tail}]"
        if cost(text) <= _LONGEST:
            return text
    return f"[{size}; {tail}]"


def partly(out: int, total: int, ref: str) -> str:
    """The last line of a text of which some rows were left out."""
    return f"[… {out} of {total} lines left out; laconic recall {ref}]"


def _short(target: str, length: int) -> str:
    """The end of a path and the start of anything else say most."""
    target = " ".join(target.split())
    if len(target) <= length:
        return target
    if length == 0:
        return ""
    return f"…{target[-length:]}" if "/" in target and " " not in target else f"{target[:length]}…"
