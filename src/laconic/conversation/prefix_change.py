"""What of a prompt changed that was sent before, by the fingerprints of two requests. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, Literal

import msgspec

from laconic.conversation.prefix_hashes import count_shared
from laconic.wire.cache_rules import LOOKBACK
from laconic.wire.fingerprint import BLOCK_SIZE, LINE_SIZE, RequestFingerprint, ToolFingerprint

Part = Literal[
    "", "tools", "tools_order", "tools_form", "system", "message", "rewind", "compaction", "marks", "model"
]
_NAMES: Final = 4  # tools that a detail names
_SHRUNK: Final = 0.6  # a history with fewer of its blocks than this was summarised
_NAMED: Final = attrgetter("name", "content")
_BEGINNING: Final = 0.3  # of a history: a summary takes the place of all behind it


class PrefixChange(msgspec.Struct, frozen=True, array_like=True):
    """The first part of a prompt that differs from the request before; no part: only new text was added."""

    part: Part = ""
    detail: str = ""


def find_change(before: RequestFingerprint, now: RequestFingerprint) -> PrefixChange:
    """By the order in which a provider reads a prompt: tools, system prompt, messages; at last the cache marks."""
    if before.model != now.model:
        return PrefixChange("model", f"{before.model} -> {now.model}")
    return (
        _compare_tools(before.tools, now.tools)
        or _compare_systems(before.system, now.system)
        or _compare_blocks(_split(before.blocks, BLOCK_SIZE), _split(now.blocks, BLOCK_SIZE))
        or _compare_marks(before.marks, now.marks)
        or PrefixChange()
    )


def _compare_tools(before: Sequence[ToolFingerprint], now: Sequence[ToolFingerprint]) -> PrefixChange | None:
    counted: Counter[bytes] = Counter()
    for tool in now:
        counted[tool.content] += 1
    counted.subtract(Counter(map(attrgetter("content"), before)))
    if len(before) != len(now) or any(counted.values()):
        return PrefixChange("tools", _describe_tools(before, now))
    rewritten = []
    for old, new in zip(before, now, strict=True):
        if old.content != new.content:
            return PrefixChange("tools_order", f"same {len(now)} tools; the first that moved is {new.name}")
        if old.form != new.form:
            rewritten.append(new.name)
    if rewritten:
        return PrefixChange("tools_form", f"same schema, other bytes: {_list_names(rewritten)}")
    return None


def _describe_tools(before: Sequence[ToolFingerprint], now: Sequence[ToolFingerprint]) -> str:
    """As a short diff: what came, what went, what says something else."""
    old, new = dict(map(_NAMED, before)), dict(map(_NAMED, now))
    found: dict[str, list[str]] = {"+": [], "-": [], "~": []}
    for name, content in new.items():
        if name not in old:
            found["+"].append(name)
        elif content != old[name]:
            found["~"].append(name)
    for name in old:
        if name not in new:
            found["-"].append(name)
    parts = []
    for sign, names in found.items():
        if names:
            parts.append(f"{sign}{_list_names(names)}")
    return " ".join(parts)


def _list_names(found: Sequence[str]) -> str:
    listed = ",".join(found[:_NAMES])
    if len(found) > _NAMES:
        return f"{listed} and {len(found) - _NAMES} more"
    return listed


def _compare_systems(before: bytes, now: bytes) -> PrefixChange | None:
    if before == now:
        return None
    old, new = _split(before, LINE_SIZE), _split(now, LINE_SIZE)
    first = count_shared(old, new)
    same_after = count_shared(old[first:][::-1], new[first:][::-1])
    last = len(new) - same_after
    where = f"line {first + 1}"
    if last > first + 1:
        where = f"lines {first + 1}-{last}"
    if last <= first:
        where = f"removed after line {first}"
    return PrefixChange("system", f"{where} of {len(new)}")


def _compare_blocks(before: Sequence[bytes], now: Sequence[bytes]) -> PrefixChange | None:
    shared = count_shared(before, now)
    if shared == len(before):
        return None
    gone = Counter(before[shared:]) - Counter(now[shared:])
    kept = len(before) - shared - sum(gone.values())
    where = f"block {shared + 1} of {len(before)}"
    if kept:
        return PrefixChange("message", f"{where}; {sum(gone.values())} changed or gone")
    if len(now) < _SHRUNK * len(before) and shared <= max(1, _BEGINNING * len(before)):
        return PrefixChange("compaction", f"{len(before)} blocks became {len(now)}")
    if shared == len(before) - 1 == len(now) - 1 or len(now) >= len(before):
        return PrefixChange("message", where)
    return PrefixChange("rewind", f"back to block {shared} of {len(before)}")


def _compare_marks(before: Sequence[int], now: Sequence[int]) -> PrefixChange | None:
    """Whether a mark is near enough behind the last one: a provider finds nothing that is farther away."""
    if not before:
        return None
    if not now:
        return PrefixChange("marks", "no cache marks any more")
    last = max(before)
    if max(now) < last:
        return PrefixChange("marks", f"the last mark moved back by {last - max(now)} blocks")
    place = bisect_left(now, last)
    ahead = now[place] - last
    if ahead <= LOOKBACK:
        return None
    return PrefixChange("marks", f"the next mark is {ahead} blocks on; providers look back {LOOKBACK}")


def _split(packed: bytes, size: int) -> list[bytes]:
    return [packed[at : at + size] for at in range(0, len(packed), size)]
