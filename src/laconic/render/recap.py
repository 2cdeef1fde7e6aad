"""The recap of a span of history as a text: sections in order of worth, each cut before the budget is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

_HEAD: Final = "[laconic] Recap of earlier turns that are no longer shown. It stands in their place."
_ALL: Final = "All of them, word for word: `laconic recall {}`."
_BEFORE: Final = "Those of earlier recaps: {}."
_TITLE: Final = 12  # tokens around the title of a section
_LINE: Final = 3  # tokens around a line
_SHARES: Final[tuple[tuple[str, str, float], ...]] = (
    ("tasks", "Tasks", 0.15),
    ("asked", "The user also said", 0.2),
    ("changed", "Files changed", 0.15),
    ("open", "Open errors", 0.15),
    ("decisions", "Findings", 0.15),
    ("commands", "Commands", 0.08),
    ("read", "Files read", 0.06),
    ("archived", "Archived (`laconic recall REF`)", 0.06),
)


@dataclass(frozen=True, slots=True)
class RecapContent:
    """What a recap says, by section; the newest lines last."""

    asked: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()


def recap_head(ref: str, earlier: Sequence[str]) -> str:
    """How a recap begins: what it is, and where everything is that it stands for."""
    lines = [_HEAD, _ALL.format(ref)]
    if earlier:
        lines.append(_BEFORE.format(", ".join(f"`laconic recall {one}`" for one in earlier)))
    return "\n".join(lines)


def recap_text(what: RecapContent, budget: int, count: Callable[[str], int]) -> str:
    """At most `budget` tokens; of a section that is too long the newest lines stay, with their number.

    What short sections leave of their shares goes to the others, in the order of their worth.
    """
    room = budget - 16
    wanted: dict[str, int] = {}
    for field, title, _ in _SHARES:
        lines: tuple[str, ...] = getattr(what, field)
        if lines:
            wanted[field] = _size(title, lines, count)
    given = {field: min(wanted[field], round(room * share)) for field, _, share in _SHARES if field in wanted}
    left = room - sum(given.values())
    parts = []
    for field, title, _ in _SHARES:
        if field in wanted:
            more = min(left, wanted[field] - given[field])
            left -= more
            parts.append(_section(title, getattr(what, field), given[field] + more, count))
    return "\n\n".join(part for part in parts if part)


def _size(title: str, lines: Sequence[str], count: Callable[[str], int]) -> int:
    """Tokens of a whole section."""
    return count(title) + _TITLE + sum(count(line) + _LINE for line in lines)


def _section(title: str, lines: tuple[str, ...], room: int, count: Callable[[str], int]) -> str:
    kept: list[str] = []
    used = count(title) + _TITLE
    for line in reversed(lines):
        used += count(line) + _LINE
        if used > room:
            break
        kept.append(f"- {line}")
    if not kept:
        return ""
    some = ""
    if len(kept) < len(lines):
        some = f" ({len(kept)} of {len(lines)})"
    return "\n".join([f"{title}{some}:", *reversed(kept)])
