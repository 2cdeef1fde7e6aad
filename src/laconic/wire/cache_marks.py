"""Move a cache mark: a provider looks only a few blocks back from a mark, so a rewrite needs one where it begins."""

from __future__ import annotations

from typing import Final

from laconic.wire.content import without_marks
from laconic.wire.json_spans import is_object, last, members
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.turns_and_blocks import CACHE_MARK, Block

_MARKABLE: Final = frozenset({"text", "call", "result", "image"})


def is_markable(block: Block) -> bool:
    """Whether a block can carry a mark."""
    return block.kind in _MARKABLE and is_object(block.raw)


def mark_block(request: ParsedRequest, block: Block) -> bytes:
    """The body with a mark on this block of it, within the number that the provider allows.

    A request without marks on its messages stays as it is, and the newest mark stays where it is.
    """
    body, marked = request.body, _find_marked(request)
    if (
        not request.format.cache.marks
        or not marked
        or not is_markable(block)
        or block.at in {one.at for one in marked}
    ):
        return body
    spare: list[Block] = []
    if body.count(CACHE_MARK) >= request.format.cache.marks:
        spare = marked[:-1][:1]
        if not spare:
            return body
    mark = last(members(marked[-1].raw))["cache_control"].of(marked[-1].raw)
    pieces = {block.at: block.raw.rstrip()[:-1] + b"," + CACHE_MARK + b":" + mark + b"}"}
    for one in spare:
        pieces[one.at] = without_marks(one.raw)
    return _replace(request, pieces)


def _find_marked(request: ParsedRequest) -> list[Block]:
    found: list[Block] = []
    for turn in request.turns:
        for block in turn.blocks:
            raw = block.raw
            if CACHE_MARK in raw and is_object(raw) and "cache_control" in last(members(raw)):
                found.append(block)
    return found


def _replace(request: ParsedRequest, pieces: dict[tuple[int, int], bytes]) -> bytes:
    written: list[bytes] = []
    at = 0
    for turn, index in sorted(pieces):
        block = request.turns[turn].blocks[index]
        span = block.part.span.shift(block.offset)
        written += (request.body[at : span.start], pieces[turn, index])
        at = span.end
    return b"".join([*written, request.body[at:]])
