"""Search hits as text: a path once per file, then one line a hit. Leaves nothing out."""

from __future__ import annotations

from collections.abc import Iterable

from laconic.records import Hit

_SPELLED = {"def", "text"}  # kinds that the line itself makes plain


def hit_line(hit: Hit, around: str = "") -> str:
    """One hit below its path. `around` is the enclosing symbol that the line before already named."""
    if hit.kind == "def" and hit.span:
        where = str(hit.span)
    else:
        where = str(hit.line)
    words = [where if hit.sure else f"{where}?"]
    if hit.kind not in _SPELLED:
        words.append(hit.kind)
    words.append(hit.preview.strip() or hit.name)
    if hit.symbol and hit.kind != "def" and enclosing(hit) != around:
        words.append(f"@ {enclosing(hit)}")
    return " ".join(words) + "\n"


def enclosing(hit: Hit) -> str:
    """The symbol around a hit, with its span, so that the next read is exact."""
    if hit.span:
        return f"{hit.symbol}:{hit.span}"
    return hit.symbol


def by_file(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    """Hits grouped by path, files in the order of their best hit."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.path, []).append(hit)
    return groups
