"""The neutral conversation: turns of blocks, each beside the bytes it came from. It knows no provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final, Literal

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import ByteSpan, is_object, is_string, string, value

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal[
    "text", "image", "thinking", "redacted", "reasoning", "call", "result", "server", "opaque"
]  # server: run by the provider; opaque: not understood, passes as it is
_WRAPPED: Final = 12  # bytes around a text that stands in the place of an object
EDITABLE: Final = frozenset({"text", "call", "result"})
CACHE_MARK: Final = b'"cache_control"'
OUR_NAME: Final = b"laconic"
LIFETIME: Final = b'"ttl"'
WORDS: Final = (CACHE_MARK, OUR_NAME, LIFETIME)  # that every request is searched for


class BlockElement(msgspec.Struct, frozen=True, gc=False):
    """One element of a list inside a block, and its text where it has one. Offsets count from the message's start."""

    span: ByteSpan
    text: ByteSpan | None = None


class BlockLayout(msgspec.Struct, frozen=True, gc=False):
    """A block as its own message describes it: no bytes, only where they stand, counted from the message's start.

    Parts depend on nothing but the message's bytes, so they are remembered from one request to the next.
    """

    kind: Kind
    span: ByteSpan
    key: str  # hash of role, kind, id, name and content, without cache marks: the same wherever the block stands
    id: str = ""
    name: str = ""
    value: ByteSpan | None = None  # the JSON value that holds text, result or arguments
    pieces: tuple[BlockElement, ...] = ()  # when that value is a list, or an object with one text
    error: bool = False
    fixed: bool = False  # may not be edited, though its kind may
    list: int = -1  # which of the message's lists it is an element of; -1: none


class MessageShape(msgspec.Struct, frozen=True, gc=False):
    """What one message is made of."""

    role: Role
    parts: tuple[BlockLayout, ...]
    lists: tuple[ByteSpan, ...] = ()  # arrays whose elements are blocks
    native: str = ""  # the role or item type as the provider names it
    words: tuple[bytes, ...] = ()  # those of `WORDS` that it holds


class Block(msgspec.Struct, frozen=True, gc=False):
    """One block of a request: its part, and where in the body its message starts."""

    part: BlockLayout
    body: bytes
    offset: int
    turn: int
    index: int
    key: str  # the part's key; the second and later of equal blocks have `#2`, `#3` behind it

    @property
    def at(self) -> tuple[int, int]:
        return (self.turn, self.index)

    @property
    def kind(self) -> Kind:
        return self.part.kind

    @property
    def id(self) -> str:
        return self.part.id

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def error(self) -> bool:
        return self.part.error

    @property
    def editable(self) -> bool:
        return self.part.kind in EDITABLE and not self.part.fixed

    @property
    def raw(self) -> bytes:
        return self.bytes_of(self.part.span)

    def bytes_of(self, span: ByteSpan) -> bytes:
        """Bytes of the message; a span of the part."""
        return self.body[self.offset + span.start : self.offset + span.end]

    @property
    def size(self) -> int:
        """Bytes of the block as it is written."""
        return self.part.span.end - self.part.span.start

    @property
    def text(self) -> str:
        """What a reader would see: the text, the result's text, or the arguments of a call as JSON. Decoded anew."""
        texts = self.texts
        if texts:
            return "\n".join(texts)
        if self.part.value is None or self.part.pieces:
            return ""
        raw = self.bytes_of(self.part.value)
        if is_string(raw):
            return string(raw)
        return raw.decode("utf-8", "replace")

    @property
    def texts(self) -> list[str]:
        """The texts of a result that is written as a list. Decoded anew."""
        found = []
        for piece in self.part.pieces:
            if piece.text is not None:
                found.append(string(self.bytes_of(piece.text)))
        return found

    @property
    def input(self) -> dict[str, object] | str:
        """The arguments of a call: a mapping, or the text as it is where that is none."""
        if self.part.value is None:
            return {}
        raw = self.bytes_of(self.part.value)
        if is_string(raw):
            text = string(raw)
            decoded = _mapping(text.encode("utf-8", "replace"))
            if decoded is None:
                return text
            return decoded
        decoded = _mapping(raw)
        if decoded is None:
            return raw.decode("utf-8", "replace")
        return decoded

    def shorter(self, text: str) -> bool:
        """Whether a text, written in the place of this one, takes fewer bytes: quoting can make it longer."""
        value = self.part.value
        return value is not None and len(msgspec.json.encode(text)) + _WRAPPED < value.end - value.start

    @property
    def has_text(self) -> bool:
        """Whether another text can stand in its place, or a line below it, without touching anything else."""
        if self.part.pieces:
            return any(piece.text is not None for piece in self.part.pieces)
        return self.part.value is not None and is_string(self.bytes_of(self.part.value))

    @property
    def images(self) -> int:
        """Elements of a result that are no text."""
        return sum(piece.text is None for piece in self.part.pieces)


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One message (in the Responses API: one item)."""

    index: int
    blocks: tuple[Block, ...]
    shape: MessageShape
    body: bytes
    span: ByteSpan  # in the body

    @property
    def role(self) -> Role:
        return self.shape.role

    @property
    def native(self) -> str:
        """The role or item type as the provider names it."""
        return self.shape.native

    @property
    def raw(self) -> bytes:
        return self.span.of(self.body)


class SetText(msgspec.Struct, frozen=True):
    """Give a text block or a result another text. Images beside it go unless `keep_images`."""

    text: str
    keep_images: bool = False


class SetTexts(msgspec.Struct, frozen=True):
    """Give each text of a result another; everything else in it stays. None: this one stays too."""

    texts: tuple[str | None, ...]


class SetInput(msgspec.Struct, frozen=True):
    """Give a call other arguments."""

    input: Mapping[str, object] | str


class DropBlock(msgspec.Struct, frozen=True):
    """Leave the block out; a message without blocks goes with its last."""


class InsertMessage(msgspec.Struct, frozen=True):
    """A message of ours before the turn with that index (the number of turns: at the end)."""

    turn: int
    role: Literal["user", "assistant"]
    text: str


Change = SetText | SetTexts | SetInput | DropBlock
At = tuple[int, int]  # turn and block


class Fault(msgspec.Struct, frozen=True):
    """A rule of the provider that a request breaks."""

    rule: str  # pairing, order, empty, role, thinking, start, end, identity
    turn: int
    problem: str


def key_of(role: str, kind: str, id: str, name: str, content: Sequence[bytes]) -> str:
    """The content key."""
    digest = sha256(f"{role}\0{kind}\0{id}\0{name}".encode("utf-8", "replace"))
    for raw in content:
        digest.update(b"\0")
        digest.update(raw)
    return digest.hexdigest()[:32]


def _mapping(raw: bytes) -> dict[str, object] | None:
    if not is_object(raw.lstrip()):
        return None
    try:
        decoded = value(raw)
    except MalformedRequest:
        return None
    if isinstance(decoded, dict):
        return decoded
    return None
