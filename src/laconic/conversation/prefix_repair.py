"""Send what was sent before in its old form, where a client changed the form and nothing else.

A client that writes the same prompt in other bytes loses the provider's cache. What is repaired, and why the provider
gets the same:

- the order of tools: a list of tools is a set of functions that a model may call by name, and the order that is sent is
  one that the client itself chose for exactly these tools in this session. A list with a tool more, less or changed is
  another set, and passes as it is.
- the order of keys, and white space, in tools and in the arguments of calls: by the definition of JSON an object has no
  order and white space outside of strings says nothing. All strings and numbers keep their bytes. Arguments that are a
  string of JSON are repaired only when the very bytes result that were sent before.
- a cache mark out of reach: marks are no content. One is added where the request before ended, from where a provider
  finds what it cached.

What was sent first decides: it is in the ledger, so another process sends the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from laconic.errors import ArchiveUnavailable, MalformedRequest
from laconic.wire.cache_marks import mark_block
from laconic.wire.cache_rules import LOOKBACK
from laconic.wire.content import without_marks
from laconic.wire.fingerprint import find_marks, split_tools
from laconic.wire.json_form import (
    JsonForm,
    KeyOrder,
    UnstableJson,
    find_style,
    hash_bytes,
    hash_meaning,
    quote,
    read_form,
    read_order,
    write_as,
)
from laconic.wire.json_spans import ByteSpan, is_object, is_string, last, members, string
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.turns_and_blocks import CACHE_MARK, Block

_SESSIONS: Final = 32  # whose forms are remembered; those of others are read again
_MARK: Final = "cache_control"
_FORM: Final = msgspec.msgpack.Decoder(JsonForm)


class FormStore(Protocol):
    """Where forms outlive the process. Each method may raise `ArchiveUnavailable`."""

    def forms(self, session: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those of these forms that are known."""

    def keep_forms(self, session: str, forms: Mapping[bytes, bytes]) -> None:
        """Add forms; one that is known stays as it is."""


class ToolsForm(msgspec.Struct, frozen=True, array_like=True):
    """The form of a list of tools: what each says, in order, and the order of its keys."""

    digest: bytes
    tools: tuple[bytes, ...]
    orders: tuple[KeyOrder | None, ...]
    style: int = 0


_TOOLS: Final = msgspec.msgpack.Decoder(ToolsForm)


class RepairedRequest(msgspec.Struct, frozen=True):
    """A request in its old form, and what was put back."""

    body: bytes
    classes: tuple[str, ...] = ()  # tools order, tools form, arguments, marks


class _Replacement(msgspec.Struct, frozen=True):
    span: ByteSpan
    data: bytes
    what: str


class PrefixRepair:
    """Keeps forms of sessions. What it remembers could be thrown away at any time."""

    def __init__(self, store: FormStore) -> None:
        self._store = store
        self._known: OrderedDict[str, dict[str, bytes | None]] = OrderedDict()

    def repair(self, session: str, conversation: ParsedRequest) -> RepairedRequest:
        """The request to send; the very same bytes where there is nothing to repair."""
        known = self._known.setdefault(session, {})
        self._known.move_to_end(session)
        if len(self._known) > _SESSIONS:
            self._known.popitem(last=False)
        try:
            found = [
                *self._repair_tools(session, known, conversation),
                *self._repair_calls(session, known, conversation),
            ]
        except ArchiveUnavailable:
            found = []  # nobody knows what was sent before
        except MalformedRequest:
            return RepairedRequest(conversation.body)
        body = conversation.body
        for one in sorted(found, key=lambda replacement: replacement.span, reverse=True):
            body = body[: one.span.start] + one.data + body[one.span.end :]
        classes = dict.fromkeys(one.what for one in found)
        target = _find_unmarked(conversation)
        if target is not None:
            request = parse(conversation.format, body)
            marked = mark_block(request, request.turns[target.turn].blocks[target.index])
            if marked != body:
                body, classes = marked, {**classes, "marks": None}
        return RepairedRequest(body, tuple(classes))

    def forget(self, session: str) -> None:
        """Read what is known of a session again."""
        self._known.pop(session, None)

    def _repair_tools(
        self, session: str, known: dict[str, bytes | None], conversation: ParsedRequest
    ) -> Iterator[_Replacement]:
        raw = conversation.field("tools")
        if not raw:
            return
        place = f"tools {hash_bytes(raw).hex()}"
        old = known.get(place)
        if place not in known:
            old, is_settled = self._find_tools(session, raw)
            if is_settled:
                known[place] = old
        if old is not None:
            what = "tools form"
            if _read_meanings(old) != _read_meanings(raw):
                what = "tools order"
            yield _Replacement(conversation.fields["tools"], old, what)

    def _find_tools(self, session: str, raw: bytes) -> tuple[bytes | None, bool]:
        """A list of tools as it was first sent (None: as it is), and whether that is settled.

        What this request wrote down is not: another process may have been faster.
        """
        try:
            listed, mark = _take_mark(split_tools(raw))
            meanings = list(map(hash_meaning, listed))
            key = b"t" + hash_bytes(b"".join(sorted(meanings)))
            bare = without_marks(raw)
            kept = self._store.forms(session, [key]).get(key)
            if kept is None:
                orders = tuple(map(read_order, listed))
                style = find_style(bare, KeyOrder((), orders))
                form = ToolsForm(hash_bytes(bare), tuple(meanings), orders, style)
                self._store.keep_forms(session, {key: msgspec.msgpack.encode(form)})
                return None, False
            form = _TOOLS.decode(kept)
            if form.digest == hash_bytes(bare):
                return None, True
            return _write_tools(listed, meanings, form, mark), True
        except (UnstableJson, msgspec.MsgspecError):
            return None, True

    def _repair_calls(
        self, session: str, known: dict[str, bytes | None], conversation: ParsedRequest
    ) -> Iterator[_Replacement]:
        changed: list[Block] = []  # and those that are new: most are neither
        for turn in conversation.turns:
            if turn.role != "assistant":
                continue
            for block in turn.blocks:
                part = block.part
                if part.kind == "call" and part.value is not None and known.get(part.key, b"") is not None:
                    changed.append(block)
        new = [block for block in changed if block.part.key not in known]
        if new:
            known |= self._find_calls(session, new)
        for block in changed:
            old, value = known.get(block.part.key), block.part.value
            if old is not None and value is not None:
                yield _Replacement(value.shift(block.offset), old, "arguments")

    def _find_calls(self, session: str, calls: Sequence[Block]) -> dict[str, bytes | None]:
        """The arguments of calls as they were first sent, by their keys; None: as they are. New calls are left out."""
        found: dict[str, bytes | None] = {}
        wanted: dict[bytes, Block] = {}
        for block in calls:
            try:
                wanted.setdefault(_key_of_call(block), block)
            except UnstableJson:
                found[block.part.key] = None
        kept = self._store.forms(session, list(wanted))
        added = {}
        for key, block in wanted.items():
            try:
                if key in kept:
                    found[block.part.key] = _write_arguments(block, _FORM.decode(kept[key]))
                else:
                    added[key] = msgspec.msgpack.encode(_form_of(block))
            except (UnstableJson, msgspec.MsgspecError):
                found[block.part.key] = None
        if added:
            self._store.keep_forms(session, added)
        return found


def _read_meanings(tools: bytes) -> list[bytes]:
    return list(map(hash_meaning, map(without_marks, split_tools(tools))))


def _take_mark(tools: Sequence[bytes]) -> tuple[list[bytes], bytes]:
    """Tools without their cache mark, and the mark of the last; marks elsewhere are left to the client."""
    bare = list(map(without_marks, tools))
    for tool, stripped in zip(tools[:-1], bare[:-1], strict=True):
        if tool != stripped:
            raise UnstableJson("a mark inside of the list")
    if tools and tools[-1] != bare[-1]:
        fields = last(members(tools[-1]))
        if _MARK not in fields:
            raise UnstableJson("a mark inside of a tool")
        return bare, fields[_MARK].of(tools[-1])
    return bare, b""


def _write_tools(listed: Sequence[bytes], meanings: Sequence[bytes], form: ToolsForm, mark: bytes) -> bytes:
    by_meaning = dict(zip(meanings, listed, strict=True))
    if len(by_meaning) < len(listed):
        raise UnstableJson("a tool is declared twice")
    ordered = list(map(by_meaning.__getitem__, form.tools))
    joined = b"[" + b",".join(ordered) + b"]"
    written = write_as(joined, KeyOrder((), form.orders), form.style)
    if mark:
        return written[:-2] + b',"cache_control":' + mark + b"}]"
    return written


def _arguments(block: Block) -> bytes:
    """The arguments of a call as JSON: they may be an object, or a string that holds one."""
    assert block.part.value is not None
    raw = block.bytes_of(block.part.value)
    if is_string(raw):
        raw = string(raw).encode("utf-8", "surrogatepass")
    if not is_object(raw):
        raise UnstableJson("no object")
    return raw


def _key_of_call(block: Block) -> bytes:
    named = f"{block.id}\0{block.name}\0".encode("utf-8", "replace")
    return b"c" + hash_bytes(named + hash_meaning(_arguments(block)))


def _form_of(block: Block) -> JsonForm:
    assert block.part.value is not None
    raw = block.bytes_of(block.part.value)
    form = read_form(_arguments(block))
    if is_string(raw):
        return msgspec.structs.replace(form, quoted=hash_bytes(raw))
    return form


def _write_arguments(block: Block, form: JsonForm) -> bytes | None:
    raw = _arguments(block)
    if hash_bytes(raw) == form.digest:
        return None
    written = write_as(raw, form.order, form.style)
    assert block.part.value is not None
    if not is_string(block.bytes_of(block.part.value)):
        return written
    if hash_bytes(written) != form.digest:
        raise UnstableJson("a string that cannot be written as it was")
    return quote(written.decode("utf-8"), form.quoted)


def _find_unmarked(conversation: ParsedRequest) -> Block | None:
    """Where the request before ended, when the client's next mark is too far behind it."""
    if not conversation.mentions(CACHE_MARK):
        return None
    blocks: list[Block] = []
    for turn in conversation.turns:
        blocks += turn.blocks
    marks = list(find_marks(conversation, list(map(_start_of, blocks))))
    ended = _count_sent(conversation) - 1
    at = bisect_left(marks, ended)
    if ended < 0 or at == len(marks) or marks[at] <= ended + LOOKBACK:
        return None
    return blocks[ended]


def _start_of(block: Block) -> int:
    return block.offset + block.part.span.start


def _count_sent(conversation: ParsedRequest) -> int:
    """Blocks that the request before had: up to the model's last words."""
    turns = conversation.turns
    at = len(turns)
    while at > 0 and turns[at - 1].role != "assistant":
        at -= 1
    while at > 0 and turns[at - 1].role == "assistant":
        at -= 1
    return sum(len(turn.blocks) for turn in turns[:at])
