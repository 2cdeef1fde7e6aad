"""What the formats share when they read a message: typed elements, texts, and content without cache marks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from laconic.wire.json_spans import ByteSpan, elements, is_array, is_object, is_string, last, members, string
from laconic.wire.turns_and_blocks import BlockElement, BlockLayout, Kind, Role, key_of

_MARK = b'"cache_control"'


class JsonObject:
    """A JSON object inside a message: its members by name, offsets counted from the message's start."""

    __slots__ = ("fields", "message", "span")

    def __init__(self, message: bytes, span: ByteSpan | None = None) -> None:
        self.message = message
        self.span = span or ByteSpan(0, len(message))
        raw = self.span.of(message)
        found = last(members(raw)) if is_object(raw) else {}
        self.fields = {name: value.shift(self.span.start) for name, value in found.items()}

    def raw(self, name: str) -> bytes:
        if name in self.fields:
            return self.fields[name].of(self.message)
        return b""

    def text(self, name: str) -> str:
        raw = self.raw(name)
        if is_string(raw):
            return string(raw)
        return ""

    def inner(self, name: str) -> JsonObject:
        """The object under that name; empty when there is none."""
        return JsonObject(self.message, self.fields.get(name, ByteSpan(0, 0)))

    def list(self, name: str) -> list[ByteSpan]:
        """The elements of the array under that name."""
        raw = self.raw(name)
        if is_array(raw):
            found = []
            for span in elements(raw):
                found.append(span.shift(self.fields[name].start))
            return found
        return []

    def first(self, *names: str) -> str:
        """The first of these names that is present; the first name otherwise."""
        for name in names:
            if name in self.fields:
                return name
        return names[0]


def pieces_of(message: bytes, array: list[ByteSpan], types: Collection[str]) -> tuple[BlockElement, ...]:
    """The elements of a list of content, with the texts of those whose type is one of `types`."""
    found = []
    for span in array:
        item = JsonObject(message, span)
        text = item.fields.get("text")
        is_text = text is not None and item.text("type") in types and is_string(text.of(message))
        found.append(BlockElement(span, text if is_text else None))
    return tuple(found)


def remove_cache_marks(raw: bytes) -> bytes:
    """A value without its cache marks: clients move those from turn to turn, and they change nothing else."""
    if _MARK not in raw:
        return raw
    if is_object(raw):
        kept = []
        for member in members(raw):
            if member.key != "cache_control":
                kept.append(member)
        return b"{" + b",".join(m.key.encode() + b":" + remove_cache_marks(m.value.of(raw)) for m in kept) + b"}"
    if is_array(raw):
        return b"[" + b",".join(remove_cache_marks(span.of(raw)) for span in elements(raw)) + b"]"
    return raw


def without_marks(raw: bytes) -> bytes:
    """A block as it is written without its cache marks: they come and go, and must not change its size."""
    if _MARK not in raw:
        return raw
    cuts = sorted(_mark_cuts(raw, 0))
    kept, at = [], 0
    for start, end in cuts:
        kept.append(raw[at:start])
        at = end
    return b"".join([*kept, raw[at:]])


def _mark_cuts(raw: bytes, offset: int) -> Iterator[tuple[int, int]]:
    if is_object(raw):
        found = members(raw)
        for number, member in enumerate(found):
            inner = member.value.of(raw)
            if member.key == "cache_control":
                if number:
                    start = found[number - 1].value.end
                else:
                    start = member.at
                if not number and len(found) > 1:
                    last = found[1].at
                else:
                    last = member.value.end
                yield offset + start, offset + last
            elif _MARK in inner:
                yield from _mark_cuts(inner, offset + member.value.start)
    elif is_array(raw):
        for span in elements(raw):
            if _MARK in span.of(raw):
                yield from _mark_cuts(span.of(raw), offset + span.start)


def text_part(
    message: bytes, role: Role, span: ByteSpan, text: ByteSpan, *, list: int = -1, fixed: bool = False
) -> BlockLayout:
    """A text. Its key is the same whether the client writes a bare string or an element of a list."""
    return BlockLayout(
        kind="text",
        span=span,
        key=key_of(role, "text", "", "", [text.of(message)]),
        value=text,
        list=list,
        fixed=fixed,
    )


def plain_part(
    message: bytes, role: Role, kind: Kind, span: ByteSpan, *, id: str = "", name: str = "", list: int = -1
) -> BlockLayout:
    """A block that is kept whole."""
    return BlockLayout(
        kind=kind,
        span=span,
        key=key_of(role, kind, id, name, [remove_cache_marks(span.of(message))]),
        id=id,
        name=name,
        list=list,
    )


def call_part(
    message: bytes, role: Role, span: ByteSpan, value: ByteSpan | None, *, id: str, name: str, list: int = -1
) -> BlockLayout:
    """A call and its arguments."""
    content = b""
    if value:
        content = value.of(message)
    return BlockLayout(
        kind="call",
        span=span,
        key=key_of(role, "call", id, name, [content]),
        id=id,
        name=name,
        value=value,
        list=list,
    )


def result_part(
    message: bytes,
    span: ByteSpan,
    value: ByteSpan | None,
    pieces: tuple[BlockElement, ...],
    *,
    id: str,
    name: str = "",
    error: bool = False,
    fixed: bool = False,
    list: int = -1,
) -> BlockLayout:
    """A result. One text alone has the same key as a bare string and as a list of one."""
    content = b""
    if value:
        content = remove_cache_marks(value.of(message))
    if len(pieces) == 1 and pieces[0].text is not None:
        content = pieces[0].text.of(message)
    key = key_of("tool", "result", id, name, [content, b"error" if error else b""])
    return BlockLayout(
        kind="result",
        span=span,
        key=key,
        id=id,
        name=name,
        value=value,
        pieces=pieces,
        error=error,
        fixed=fixed,
        list=list,
    )
