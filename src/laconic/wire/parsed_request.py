"""A request body as a conversation: parsed as far as asked, and never rewritten where it is not changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from hashlib import sha256

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import ByteSpan, elements, is_array, is_object, is_string, last, members, string, value
from laconic.wire.provider_format import ProviderFormat
from laconic.wire.splice import splice
from laconic.wire.tool_exchanges import Exchange, exchanges
from laconic.wire.turns_and_blocks import WORDS, At, Block, Change, Fault, InsertMessage, MessageShape, Turn

Shapes = MutableMapping[bytes, MessageShape]  # remembered shapes by the hash of a message's bytes


class ParsedRequest:
    """One request. Turns are read when first asked for; with remembered shapes only new messages are opened."""

    __slots__ = (
        "_exchanges",
        "_first",
        "_shapes",
        "_turns",
        "_with_words",
        "array",
        "body",
        "fields",
        "format",
        "messages",
    )

    def __init__(
        self,
        format: ProviderFormat,
        body: bytes,
        fields: dict[str, ByteSpan],
        array: ByteSpan | None,
        messages: tuple[ByteSpan, ...],
    ) -> None:
        self.format = format
        self.body = body
        self.fields = fields  # top-level members
        self.array = array  # the list of messages
        self.messages = messages
        self._shapes: Shapes = {}
        self._first: int | None = None
        self._turns: tuple[Turn, ...] | None = None
        self._with_words: list[Turn] = []  # those that hold one of `WORDS`
        self._exchanges: tuple[Exchange, ...] | None = None

    def remember(self, shapes: Shapes) -> ParsedRequest:
        """Use, and add to, the shapes of earlier requests of the same session."""
        shapes.update(self._shapes)
        self._shapes = shapes
        return self

    @property
    def turns(self) -> tuple[Turn, ...]:
        if self._turns is None:
            self._turns = self._read()
        return self._turns

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        if self._exchanges is None:
            self._exchanges = exchanges(self.turns, merged=self.format.merged)
        return self._exchanges

    def calls(self, since: int) -> dict[At, Block]:
        """The call that each result from this turn on answers. It looks no further back than it has to."""
        turns, start = self.turns, since
        while start > 0 and turns[start - 1].role != "assistant":
            start -= 1
        while start > 0 and turns[start - 1].role == "assistant":
            start -= 1
        found = _collect_answered(exchanges(turns[start:], merged=self.format.merged))
        results = (block.at for turn in turns[since:] for block in turn.blocks if block.kind == "result")
        if all(at in found for at in results):
            return found
        return _collect_answered(self.exchanges)

    @property
    def first_user(self) -> int:
        """The turn that holds the first real user message; -1 when there is none."""
        if self._first is None:
            self._first = next((at for at in range(len(self.messages)) if self._speaks(at)), -1)
        return self._first

    @property
    def model(self) -> str:
        return self.text_field("model")

    @property
    def first_message(self) -> tuple[bytes, ...]:
        """The keys of the first user message. Nothing behind it is opened for this."""
        if self.first_user < 0:
            return ()
        found = []
        for part in self._shape(self.first_user).parts:
            found.append(part.key.encode())
        return tuple(found)

    def is_pinned(self, block: Block) -> bool:
        """System prompts and the first user message are never touched."""
        return self.turns[block.turn].role == "system" or block.turn == self.first_user

    @property
    def chained(self) -> bool:
        """Whether earlier turns are kept by the provider: then what we see is not the whole, and is left alone."""
        return any(self.field(name) not in {b"", b"null"} for name in self.format.chained)

    def field(self, name: str) -> bytes:
        """A top-level value as it is written; empty when absent."""
        if name in self.fields:
            return self.fields[name].of(self.body)
        return b""

    def text_field(self, name: str) -> str:
        raw = self.field(name)
        if is_string(raw):
            return string(raw)
        return ""

    def decode_field(self, name: str) -> object:
        """A top-level value, decoded; None when absent."""
        raw = self.field(name)
        if raw:
            return value(raw)
        return None

    def mentions(self, word: bytes) -> bool:
        """Whether one of `WORDS` is anywhere in the body."""
        return next(self.find_all(word), None) is not None

    def find_all(self, word: bytes) -> Iterator[int]:
        """Where one of `WORDS` is in the body, in order. Messages that were read know whether they hold it."""
        if self._turns is None or self.array is None:
            yield from _find_all(self.body, word, 0, len(self.body))
            return
        yield from _find_all(self.body, word, 0, self.array.start)
        for turn in self._with_words:
            if word in turn.shape.words:
                yield from _find_all(self.body, word, turn.span.start, turn.span.end)
        yield from _find_all(self.body, word, self.array.end, len(self.body))

    def faults(self) -> list[Fault]:
        """The rules of the provider that this request breaks."""
        return self.format.faults(self)

    def emit(
        self,
        changes: Mapping[At, Change] | None = None,
        inserts: Sequence[InsertMessage] = (),
        fields: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """The body with these changes and no other; without changes the very same bytes."""
        if not changes and not inserts and not fields:
            return self.body
        return splice(self, changes or {}, inserts, fields or {})

    def _read(self) -> tuple[Turn, ...]:
        """The turns. This runs over the whole history on every request: one hash per message, no copies."""
        body, shapes, view = self.body, self._shapes, memoryview(self.body)
        turns: list[Turn] = []
        counts: dict[str, int] = {}
        for index, span in enumerate(self.messages):
            start = span.start
            digest = sha256(view[start : span.end]).digest()
            shape = shapes.get(digest)
            if shape is None:
                shape = shapes[digest] = _shape_of(self.format, span.of(body))
            blocks = []
            for number, part in enumerate(shape.parts):
                key = part.key
                if key in counts:
                    counts[key] += 1
                    key = f"{key}#{counts[key]}"
                else:
                    counts[key] = 1
                blocks.append(Block(part=part, body=body, offset=start, turn=index, index=number, key=key))
            turn = Turn(index=index, blocks=tuple(blocks), shape=shape, body=body, span=span)
            turns.append(turn)
            if shape.words:
                self._with_words.append(turn)
        return tuple(turns)

    def _shape(self, at: int) -> MessageShape:
        raw = self.messages[at].of(self.body)
        digest = sha256(raw).digest()
        if digest not in self._shapes:
            self._shapes[digest] = _shape_of(self.format, raw)
        return self._shapes[digest]

    def _speaks(self, at: int) -> bool:
        shape = self._shape(at)
        return shape.role == "user" and any(part.kind != "result" for part in shape.parts)


def _shape_of(format: ProviderFormat, raw: bytes) -> MessageShape:
    shape = format.shape(raw)
    words = tuple(word for word in WORDS if word in raw)
    if not words:
        return shape
    return msgspec.structs.replace(shape, words=words)


def _find_all(body: bytes, word: bytes, start: int, end: int) -> Iterator[int]:
    at = body.find(word, start, end)
    while at >= 0:
        yield at
        at = body.find(word, at + 1, end)


def _collect_answered(found: Sequence[Exchange]) -> dict[At, Block]:
    return {result.at: call for exchange in found for call, result in exchange.pairs if result}


def parse(format: ProviderFormat, body: bytes, shapes: Shapes | None = None) -> ParsedRequest:
    """Open a body. Only the top level and the list of messages are looked at."""
    if not is_object(body.lstrip()[:1]):
        raise MalformedRequest("The body is not a JSON object.", f"Send a request in the {format.name} format.")
    fields = last(members(body))
    name = next((name for name in format.messages if name in fields), None)
    if name is None:
        raise MalformedRequest(
            f"The body has no {format.messages[0]!r}.", f"Send a request in the {format.name} format."
        )
    array: ByteSpan | None = fields[name]
    raw = fields[name].of(body)
    if is_array(raw):
        spans = tuple(elements(raw, fields[name].start))
    elif is_string(raw):
        array, spans = None, (fields[name],)
    else:
        raise MalformedRequest(f"{name!r} is not a list.", f"Send a request in the {format.name} format.")
    return ParsedRequest(format, body, fields, array, spans).remember({} if shapes is None else shapes)
