"""Write a body again with a few changes: every byte that no change covers is copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from laconic.errors import ConversationError, MalformedRequest
from laconic.wire.json_spans import ByteSpan, elements, is_object, is_string, members, string, value
from laconic.wire.turns_and_blocks import (
    At,
    Block,
    Change,
    DropBlock,
    InsertMessage,
    SetInput,
    SetText,
    SetTexts,
    Turn,
)

if TYPE_CHECKING:
    from laconic.wire.parsed_request import ParsedRequest

Cut = tuple[int, int, bytes]  # start, end, what stands there now


def splice(
    conversation: ParsedRequest,
    changes: Mapping[At, Change],
    inserts: Sequence[InsertMessage],
    fields: Mapping[str, bytes],
) -> bytes:
    """The changed body."""
    if conversation.array is None and (changes or inserts):
        raise ConversationError("This request holds a single text, not a list.", "Leave it as it is.")
    cuts = _field_cuts(conversation, fields)
    gone: set[int] = set()
    for index, wanted in _by_turn(changes).items():
        turn = conversation.turns[index]
        if len(wanted) == len(turn.blocks) and all(type(change) is DropBlock for change in wanted.values()):
            gone.add(index)
            continue
        offset = conversation.messages[index].start
        for start, end, new in _message_cuts(turn, wanted):
            cuts.append((start + offset, end + offset, new))
    if gone or inserts:
        cuts += _array_cuts(conversation, gone, inserts)
    return _apply(conversation.body, cuts)


def _by_turn(changes: Mapping[At, Change]) -> dict[int, dict[int, Change]]:
    grouped: dict[int, dict[int, Change]] = {}
    for (turn, block), change in changes.items():
        grouped.setdefault(turn, {})[block] = change
    return grouped


def _message_cuts(turn: Turn, wanted: Mapping[int, Change]) -> list[Cut]:
    cuts: list[Cut] = []
    dropped = [turn.blocks[number] for number, change in wanted.items() if isinstance(change, DropBlock)]
    if dropped:
        cuts += _cut_elements(turn, dropped)
    for number, change in wanted.items():
        block = turn.blocks[number]
        if isinstance(change, SetText):
            cuts.append(_set_text(block, change))
        elif isinstance(change, SetTexts):
            cuts += _set_texts(block, change)
        elif isinstance(change, SetInput):
            cuts.append(_set_input(block, change))
    return cuts


def _cut_elements(turn: Turn, dropped: Iterable[Block]) -> list[Cut]:
    """Take elements out of the lists of a message that stays."""
    by_list: dict[ByteSpan, set[ByteSpan]] = {}
    for block in dropped:
        if block.part.list < 0:
            raise ConversationError(f"A {block.kind} block cannot leave its message.", "Drop the whole turn.")
        by_list.setdefault(turn.shape.lists[block.part.list], set()).add(block.part.span)
    cuts: list[Cut] = []
    for span, out in by_list.items():
        inside = []
        for element in elements(span.of(turn.raw)):
            inside.append(element.shift(span.start))
        if all(element in out for element in inside):
            raise ConversationError("A message cannot keep an empty list.", "Drop the whole turn.")
        cuts += without(inside, [element in out for element in inside])
    return cuts


def without(inside: Sequence[ByteSpan], out: Sequence[bool]) -> list[Cut]:
    """Cuts that take elements out of an array together with one comma each; at least one element stays."""
    kept = max(number for number, leaves in enumerate(out) if not leaves)
    cuts: list[Cut] = []
    at = 0
    while at < kept:  # neighbours go in one cut
        first = at
        while out[at]:
            at += 1
        if at > first:
            cuts.append((inside[first].start, inside[at].start, b""))
        at += 1
    if kept + 1 < len(inside):
        cuts.append((inside[kept].end, inside[-1].end, b""))
    return cuts


def _set_text(block: Block, change: SetText) -> Cut:
    part = block.part
    if part.value is None or part.fixed or part.kind not in {"text", "result"}:
        raise ConversationError(f"A {part.kind} block has no text to replace.", "Leave it as it is.")
    text = msgspec.json.encode(change.text)
    raw = block.bytes_of(part.value)
    texts = [piece for piece in part.pieces if piece.text is not None]
    if is_string(raw) or not raw:
        return (*part.value, text)
    if is_object(raw):
        if len(texts) == 1 and texts[0].text is not None:
            return (*texts[0].text, text)
        return (*part.value, (b'{"error":' if part.error else b'{"output":') + text + b"}")
    if change.keep_images and part.pieces and not texts:
        raise ConversationError("This result has no text to replace.", "Leave it as it is.")
    kept = []
    for piece in part.pieces:
        whole = block.bytes_of(piece.span)
        if piece.text is None:
            if change.keep_images:
                kept.append(whole)
        elif piece is texts[0]:
            at = piece.span.start
            kept.append(whole[: piece.text.start - at] + text + whole[piece.text.end - at :])
    return (*part.value, b"[" + b",".join(kept) + b"]" if texts else text)


def _set_texts(block: Block, change: SetTexts) -> list[Cut]:
    spans = []
    for piece in block.part.pieces:
        if piece.text is not None:
            spans.append(piece.text)
    if block.part.fixed or len(spans) != len(change.texts):
        raise ConversationError(f"A {block.kind} block has other texts to replace.", "Name each of its texts.")
    cuts: list[Cut] = []
    for span, text in zip(spans, change.texts, strict=True):
        if text is not None:
            cuts.append((*span, msgspec.json.encode(text)))
    return cuts


def _set_input(block: Block, change: SetInput) -> Cut:
    part = block.part
    if part.value is None or part.kind != "call":
        raise ConversationError(f"A {part.kind} block has no arguments to replace.", "Leave it as it is.")
    raw = block.bytes_of(part.value)
    if is_string(raw):
        text = change.input
        if not isinstance(text, str):
            text = _with_members(string(raw).encode("utf-8", "replace"), text).decode()
        return (*part.value, msgspec.json.encode(text))
    if isinstance(change.input, str):
        raise ConversationError("These arguments are an object, not a text.", "Pass a mapping.")
    return (*part.value, _with_members(raw, change.input))


def _with_members(raw: bytes, wanted: Mapping[str, object]) -> bytes:
    """An object with other values; what stays the same stays as it was written, to the last zero of a number."""
    try:
        found = members(raw) if is_object(raw.lstrip()) else []
    except MalformedRequest:
        found = []
    if not found or [member.key for member in found] != list(wanted):
        return msgspec.json.encode(wanted)
    cuts = []
    for member in found:
        if value(member.value.of(raw)) != wanted[member.key]:
            cuts.append((*member.value, msgspec.json.encode(wanted[member.key])))
    return _apply(raw, cuts)


def _array_cuts(conversation: ParsedRequest, gone: set[int], inserts: Sequence[InsertMessage]) -> list[Cut]:
    """Messages that go and messages that come, with their commas."""
    spans, array = conversation.messages, conversation.array
    assert array is not None
    coming: dict[int, bytes] = {}
    for insert in inserts:
        coming[insert.turn] = (
            coming.get(insert.turn, b"") + b"," + conversation.format.compose(insert.role, insert.text)
        )
    stays = []
    for number in range(len(spans)):
        if number not in gone:
            stays.append(number)
    if not stays:
        written = b"".join(coming[turn] for turn in sorted(coming))[1:]
        if not written:
            raise ConversationError("Nothing would be left of this conversation.", "Keep at least one message.")
        return [(array.start + 1, array.end - 1, written)]
    if gone:
        cuts = without(spans, [number in gone for number in range(len(spans))])
    else:
        cuts = []
    for turn, messages in sorted(coming.items()):
        after = next((number for number in stays if number >= turn), None)
        if after is not None:
            cuts.append((spans[after].start, spans[after].start, messages[1:] + b","))
        else:
            cuts.append((spans[-1].end, spans[-1].end, messages))
    return cuts


def _field_cuts(conversation: ParsedRequest, fields: Mapping[str, bytes]) -> list[Cut]:
    """Top-level values of ours; a new one goes to the end of the object."""
    cuts: list[Cut] = []
    added = b""
    for name, written in fields.items():
        if name in conversation.fields:
            cuts.append((*conversation.fields[name], written))
        else:
            added += b"," + msgspec.json.encode(name) + b":" + written
    if added:
        end = members(conversation.body)[-1].value.end
        cuts.append((end, end, added))
    return cuts


def _apply(body: bytes, cuts: list[Cut]) -> bytes:
    view = memoryview(body)
    pieces: list[bytes | memoryview] = []
    at = 0
    for start, end, new in sorted(cuts, key=itemgetter(0, 1)):
        if start < at:
            raise ConversationError("Two changes touch the same bytes.", "Change each block once.")
        pieces += (view[at:start], new)
        at = end
    pieces.append(view[at:])
    return b"".join(pieces)
