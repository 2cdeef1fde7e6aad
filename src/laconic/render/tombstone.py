"""What replaces text that was left out: what it was, how much, why, and how to get it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

_LONGEST: Final = 60  # tokens
_NAMED: Final = 32  # characters of a target that are shown; the call above it has the whole
_ROLLED: Final = 400  # tokens of a line for many calls
_PER_CALL: Final = 20  # and for each of them
_WHOLE: Final = 80  # characters of a target in it


def tombstone(what: str, target: str, left: tuple[int, str, str], cost: Callable[[str], int]) -> str:
    """At most 60 tokens; the target gives way first. `left`: how many lines, why, and where they are kept."""
    lines, why, ref = left
    size = f"{lines} line{'' if lines == 1 else 's'} left out"
    tail = "not retained"
    if ref:
        tail = f"laconic recall {ref}"
    for length in (_NAMED, 16, 0):
        named = _short(target, length)
        text = f"[{' '.join(word for word in (what[:40], named) if word)}: {size}{', ' + why if why else ''}; {tail}]"
        if cost(text) <= _LONGEST:
            return text
    return f"[{size}; {tail}]"


def partly(out: int, total: int, ref: str) -> str:
    """The last line of a text of which some rows were left out."""
    return f"[… {out} of {total} lines left out; laconic recall {ref}]"


def replaced_text(lines: Sequence[str], ref: str) -> str:
    """The text that an edit replaced: its first line, and where the others are."""
    if len(lines[0].strip()) > 1:
        shown = lines[0]
    else:
        shown = "\n".join(lines[:2])
    left = len(lines) - shown.count("\n") - 1
    return f"{shown}\n[… {left} more lines, replaced; laconic recall {ref}]"


def rollup_text(calls: Sequence[tuple[str, str]], ref: str, cost: Callable[[str], int]) -> str:
    """One line for many calls: what they were, each target once, as many as there is room for."""
    targets: dict[str, dict[str, None]] = {}
    for what, target in calls:
        if target:
            targets.setdefault(what, {})[_brief(target)] = None
    longest = min(_ROLLED, _PER_CALL * len(calls))
    if len(calls) == 1:
        left_out = "1 call left out"
    else:
        left_out = f"{len(calls)} calls left out"
    for most in range(max(map(len, targets.values()), default=0), -1, -1):
        named = "; ".join(f"{what} {', '.join(_some(list(found), most))}" for what, found in targets.items())
        text = f"[{left_out}: {named}; laconic recall {ref}]"
        if cost(text) <= longest:
            return text
    return f"[{left_out}; laconic recall {ref}]"


def _brief(target: str) -> str:
    target = " ".join(target.split())
    if len(target) <= _WHOLE:
        return target
    return f"{target[: _WHOLE - 1]}…"


def _some(found: Sequence[str], most: int) -> Sequence[str]:
    if len(found) <= most:
        return found
    return [*found[len(found) - most :], f"{len(found) - most} more"]


def _short(target: str, length: int) -> str:
    """The name of a file, and the start of anything else."""
    target = " ".join(target.split())
    if length and "/" in target and " " not in target:
        target = target.rstrip("/").rsplit("/", 1)[-1]
    if len(target) <= length:
        return target
    if length:
        return f"{target[: length - 1]}…"
    return ""
