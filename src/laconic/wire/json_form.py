"""How a JSON value is written, apart from what it says: the order of its keys and its white space.

A form holds names of keys and no values. It can be put on another writing of the same value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from laconic.wire.fingerprint import canonical_hash
from laconic.wire.json_spans import elements, is_array, is_object, members

_STYLES: Final = ((b",", b":"), (b", ", b": "))  # between members, and behind a key
_SIZE: Final = 8  # bytes of a hash


class KeyOrder(msgspec.Struct, frozen=True, array_like=True):
    """The order of keys in a value and in all that it holds; nothing for a value without any."""

    keys: tuple[str, ...] = ()  # of an object
    inner: tuple[KeyOrder | None, ...] = ()  # of the values under these keys, or of the elements of a list


class JsonForm(msgspec.Struct, frozen=True, array_like=True):
    """The form of one value."""

    digest: bytes  # hash of the bytes
    order: KeyOrder | None
    style: int = 0
    quoted: bytes = b""  # hash of the string that holds it, where it is one


class UnstableJson(ValueError):
    """A value that cannot be written anew without a doubt about what it says."""


def hash_meaning(raw: bytes) -> bytes:
    """The same for all writings of a value; strict, so that nothing is equal by mistake."""
    try:
        return canonical_hash(msgspec.json.decode(raw), _SIZE)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        raise UnstableJson("no strict JSON") from None


def hash_bytes(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=_SIZE).digest()


def read_form(raw: bytes) -> JsonForm:
    """The form of a value as it is written."""
    order = read_order(raw)
    return JsonForm(hash_bytes(raw), order, find_style(raw, order))


def quote(text: str, digest: bytes) -> bytes:
    """A string as JSON, by the hash of how it was quoted; in the shortest way where that is another."""
    for written in (json.dumps(text).encode(), json.dumps(text, ensure_ascii=False).encode()):
        if hash_bytes(written) == digest:
            return written
    return msgspec.json.encode(text)


def read_order(raw: bytes) -> KeyOrder | None:
    """The order of keys in a value; None where it has none."""
    if is_object(raw):
        found = members(raw)
        orders: dict[str, KeyOrder | None] = {}
        for member in found:
            orders[member.key] = read_order(member.value.of(raw))
        if len(orders) < len(found):
            raise UnstableJson("a key occurs twice")
        return KeyOrder(tuple(orders), tuple(orders.values()))
    if is_array(raw):
        inner = []
        for span in elements(raw):
            inner.append(read_order(span.of(raw)))
        if any(inner):
            return KeyOrder((), tuple(inner))
    return None


def find_style(raw: bytes, order: KeyOrder | None) -> int:
    """How a value is spaced; the shortest where it is spaced in another way."""
    for style in range(len(_STYLES)):
        if write_as(raw, order, style) == raw:
            return style
    return 0


def write_as(raw: bytes, order: KeyOrder | None, style: int) -> bytes:
    """The same value with its keys in an order; strings and numbers keep their bytes."""
    comma, colon = _STYLES[style]
    if is_object(raw):
        known = {member.key: member for member in members(raw)}
        keys = tuple(known)
        inner: Sequence[KeyOrder | None] = [None] * len(keys)
        if order is not None:
            keys, inner = order.keys, order.inner
        if set(keys) != known.keys():
            raise UnstableJson("other keys")
        parts = []
        for key, below in zip(keys, inner, strict=True):
            member = known[key]
            name = raw[member.at : raw.index(b'"', member.at + 1) + 1]
            if b"\\" in name:
                raise UnstableJson("an escaped key")
            parts.append(name + colon + write_as(member.value.of(raw), below, style))
        return b"{" + comma.join(parts) + b"}"
    if is_array(raw):
        spans = elements(raw)
        inner = [None] * len(spans)
        if order is not None:
            inner = order.inner
        if len(inner) != len(spans):
            raise UnstableJson("other elements")
        written = []
        for span, below in zip(spans, inner, strict=True):
            written.append(write_as(span.of(raw), below, style))
        return b"[" + comma.join(written) + b"]"
    return raw
