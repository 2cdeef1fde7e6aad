"""Where the values of a JSON text are, so that a few can be replaced and every other byte stays.

Objects and arrays are opened one level at a time; nothing below is decoded. Duplicate keys, escaped keys, odd white
space and lone surrogates are all found where they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from laconic.errors import MalformedRequest

_ENDS: Final = 4096
_WHITE: Final = b" \t\r\n"
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])
_STRING: Final = msgspec.json.Decoder(str)
_ANY: Final = msgspec.json.Decoder()
_SLOW: Final = json.JSONDecoder(strict=False)


class ByteSpan(NamedTuple):
    """A range of bytes."""

    start: int
    end: int

    def of(self, data: bytes) -> bytes:
        return data[self.start : self.end]

    def shift(self, by: int) -> ByteSpan:
        return ByteSpan(self.start + by, self.end + by)


class JsonMember(NamedTuple):
    """One key of an object: where the key starts, and where its value stands."""

    key: str
    at: int
    value: ByteSpan


def members(raw: bytes) -> list[JsonMember]:
    """The members of an object in the order they are written, duplicates included."""
    try:
        return _members(raw, _OBJECT.decode(raw))
    except (_SpanMismatch, msgspec.MsgspecError, UnicodeDecodeError):
        return _slow_members(raw)
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.", "Send a flatter body.") from None


def elements(raw: bytes, offset: int = 0) -> list[ByteSpan]:
    """The elements of an array that begins at an offset."""
    try:
        sizes = []
        for value in _ARRAY.decode(raw):
            sizes.append(len(value))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return [span.shift(offset) for span in _slow_elements(raw)]
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.", "Send a flatter body.") from None
    spans = []
    at = _skip(raw, _skip(raw, 0) + 1)
    for size in sizes:
        end = at + size
        spans.append(ByteSpan(offset + at, offset + end))
        if raw[end] in _WHITE:
            end = _skip(raw, end)
        at = _skip(raw, end + 1)
    return spans


def last(found: list[JsonMember]) -> dict[str, ByteSpan]:
    """Values by key; of duplicates the last one counts, as in every JSON reader that we know."""
    result: dict[str, ByteSpan] = {}
    for member in found:
        result[member.key] = member.value
    return result


def string(raw: bytes) -> str:
    """The text of a JSON string; what is no Unicode becomes a replacement character."""
    try:
        return _STRING.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        value = _loose(raw)
        if isinstance(value, str):
            return value
        return ""


def value(raw: bytes) -> object:
    """Any JSON value, decoded."""
    try:
        return _ANY.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _loose(raw)
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.", "Send a flatter body.") from None


def read_object(raw: bytes) -> Mapping[str, Any]:
    """A JSON object, decoded; empty where the text is anything else."""
    try:
        found = value(raw)
    except MalformedRequest:
        return {}
    if isinstance(found, Mapping):
        return found
    return {}


def is_string(raw: bytes) -> bool:
    return raw[:1] == b'"'


def is_array(raw: bytes) -> bool:
    return raw[:1] == b"["


def is_object(raw: bytes) -> bool:
    return raw[:1] == b"{"


class _SpanMismatch(Exception):
    """The bytes do not stand where the decoded object suggests: a duplicate or an escaped key."""


def _members(raw: bytes, table: dict[str, msgspec.Raw]) -> list[JsonMember]:
    """Walk along the decoded object; each step is checked against the bytes."""
    found = []
    at = _skip(raw, _skip(raw, 0) + 1)
    for key, inner in table.items():
        name = b'"' + key.encode() + b'"'
        colon = _skip(raw, at + len(name))
        start = _skip(raw, colon + 1)
        end = start + len(inner)
        if not raw.startswith(name, at) or raw[colon : colon + 1] != b":" or not _same(raw, start, inner):
            raise _SpanMismatch
        found.append(JsonMember(key, at, ByteSpan(start, end)))
        comma = _skip(raw, end)
        if raw[comma : comma + 1] not in {b",", b"}"}:
            raise _SpanMismatch
        if raw[comma : comma + 1] == b",":
            at = _skip(raw, comma + 1)
        else:
            at = comma
    if raw[at : at + 1] != b"}":
        raise _SpanMismatch
    return found


def _same(raw: bytes, start: int, inner: msgspec.Raw) -> bool:
    """Whether a value stands here. Of a large one both ends are compared: copying it would cost more."""
    size = len(inner)
    if size <= 2 * _ENDS:
        return raw.startswith(bytes(inner), start)
    view = memoryview(inner)
    return raw.startswith(bytes(view[:_ENDS]), start) and raw.startswith(bytes(view[-_ENDS:]), start + size - _ENDS)


def _skip(raw: bytes, at: int) -> int:
    while raw[at : at + 1] and raw[at] in _WHITE:
        at += 1
    return at


# The slow walk reads the bytes as Latin-1: offsets stay those of the bytes, and JSON's own signs are all ASCII.


def _slow_members(raw: bytes) -> list[JsonMember]:
    text, at = raw.decode("latin-1"), _expect(raw, 0, b"{")
    found: list[JsonMember] = []
    while raw[at : at + 1] != b"}":
        if found:
            at = _expect(raw, at, b",")
        key, key_end = _slow_value(text, at)
        if not isinstance(key, str):
            raise MalformedRequest(f"The body is not JSON: a key expected at byte {at}.", "Send valid JSON.")
        start = _expect(raw, key_end, b":")
        _, end = _slow_value(text, start)
        found.append(JsonMember(string(raw[at:key_end]), at, ByteSpan(start, end)))
        at = _skip(raw, end)
    _nothing_after(raw, at)
    return found


def _slow_elements(raw: bytes) -> list[ByteSpan]:
    text, at = raw.decode("latin-1"), _expect(raw, 0, b"[")
    spans: list[ByteSpan] = []
    while raw[at : at + 1] != b"]":
        if spans:
            at = _expect(raw, at, b",")
        _, end = _slow_value(text, at)
        spans.append(ByteSpan(at, end))
        at = _skip(raw, end)
    _nothing_after(raw, at)
    return spans


def _slow_value(text: str, at: int) -> tuple[object, int]:
    try:
        return _SLOW.raw_decode(text, at)
    except ValueError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.", "Send valid JSON.") from None
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.", "Send a flatter body.") from None


def _expect(raw: bytes, at: int, sign: bytes) -> int:
    at = _skip(raw, at)
    if raw[at : at + 1] != sign:
        raise MalformedRequest(f"The body is not JSON: {sign.decode()!r} expected at byte {at}.", "Send valid JSON.")
    return _skip(raw, at + 1)


def _nothing_after(raw: bytes, at: int) -> None:
    if _skip(raw, at + 1) != len(raw):
        raise MalformedRequest(f"The body is not JSON: more follows at byte {at + 1}.", "Send one JSON value.")


def _loose(raw: bytes) -> object:
    try:
        decoded = json.loads(raw.decode("utf-8", "replace"), strict=False)
    except ValueError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.", "Send valid JSON.") from None
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.", "Send a flatter body.") from None
    return _clean(decoded)


def _clean(decoded: object) -> object:
    """Lone surrogates cannot be written again; they become replacement characters."""
    if isinstance(decoded, str):
        return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(decoded, list):
        return [_clean(inner) for inner in decoded]
    if isinstance(decoded, dict):
        return {str(_clean(key)): _clean(inner) for key, inner in decoded.items()}
    return decoded
