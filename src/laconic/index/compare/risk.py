"""How likely a change breaks something else: what changed, who can see it, and who uses it."""

from __future__ import annotations

from typing import Final

from laconic.records import ChangeRisk, Impact, SymbolChange

RISKS: Final = ("none", "low", "medium", "high")
_PRIVATE: Final = frozenset({"private", "internal"})


def weigh(change: SymbolChange, impact: Impact | None = None) -> ChangeRisk:
    """The risk of one change, with the reason in a few words."""
    risk, why = _judge(change, impact)
    return ChangeRisk(change, risk, why, impact)


def _judge(change: SymbolChange, impact: Impact | None) -> tuple[str, str]:
    what = set(change.changes)
    if what == {"cosmetic"}:
        return "none", "layout, comments or documentation only"
    if change.test:
        return "low", "a test"
    if what == {"added"}:
        return "low", "new"
    hidden = change.visibility in _PRIVATE
    used = _used(impact)
    breaking = what & {"removed", "renamed", "moved", "signature"}
    if impact is not None and impact.stale:
        places = f"{len(impact.stale)} use{'' if len(impact.stale) == 1 else 's'} of the old name left"
        more = len(impact.stale) - _NAMED
        named = ", ".join(impact.stale[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        return "high", f"renamed, {places}: {named}"
    if breaking:
        word = next(one for one in ("removed", "renamed", "moved", "signature") if one in breaking)
        reason = f"{_WORDS[word]}{used or (', private' if hidden else ', public')}"
        if impact is not None and not impact.references:
            return "low", reason
        return ("medium" if hidden and impact is None else "high"), reason
    if impact is not None:
        return ("medium" if impact.references else "low"), f"body{used}"
    return ("low" if hidden else "medium"), "body, private" if hidden else "body, public"


_NAMED: Final = 3  # places that use an old name
_WORDS: Final = {"removed": "removed", "renamed": "renamed", "moved": "moved", "signature": "signature changed"}


def _used(impact: Impact | None) -> str:
    if impact is None:
        return ""
    if not impact.references:
        return ", no references"
    files = len(impact.files)
    places = f"{files} file{'' if files == 1 else 's'}"
    return f", {impact.references} reference{'' if impact.references == 1 else 's'} in {places}"
