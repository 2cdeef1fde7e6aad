"""References of a file as one small blob, grouped by name so that one name is read without decoding the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zlib import compress, decompress

import msgspec

from laconic.records import Reference

KINDS: Final = ("call", "read", "write", "type", "inherit", "import", "decorator")


class _PackedReferences(msgspec.Struct, frozen=True, array_like=True):
    kinds: tuple[str, ...]  # those that KINDS lacks
    receivers: tuple[str, ...]
    names: dict[str, msgspec.Raw]  # flat numbers, _WIDTH to a reference; lines as distance from the one before


_WIDTH: Final = 5


def pack(references: Sequence[Reference]) -> bytes:
    """All references of one file."""
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    receivers: dict[str, int] = {"": 0}
    grouped: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    for ref in references:
        numbers = grouped.setdefault(ref.name, [])
        kind = kinds.setdefault(ref.kind, len(kinds))
        receiver = receivers.setdefault(ref.receiver, len(receivers))
        numbers += (ref.line - last.get(ref.name, 0), ref.column, kind, receiver, ref.scope + 1)
        last[ref.name] = ref.line
    encode = msgspec.msgpack.encode
    raw = {name: msgspec.Raw(encode(grouped[name])) for name in sorted(grouped)}
    return compress(encode(_PackedReferences(tuple(kinds)[len(KINDS) :], tuple(receivers), raw)), 1)


def unpack(blob: bytes) -> list[Reference]:
    """All references, ordered by line and column."""
    packed = msgspec.msgpack.decode(decompress(blob), type=_PackedReferences)
    found = []
    for name in packed.names:
        found.extend(_decode(packed, name))
    found.sort(key=lambda ref: (ref.line, ref.column))
    return found


def names_in(blob: bytes) -> list[str]:
    """The names that a file refers to, sorted."""
    return list(msgspec.msgpack.decode(decompress(blob), type=_PackedReferences).names)


def unpack_named(blob: bytes, name: str) -> list[Reference]:
    """The references with one name, in the order in which they were packed."""
    packed = msgspec.msgpack.decode(decompress(blob), type=_PackedReferences)
    if name in packed.names:
        return _decode(packed, name)
    return []


def _decode(packed: _PackedReferences, name: str) -> list[Reference]:
    kinds = KINDS + packed.kinds
    numbers = msgspec.msgpack.decode(packed.names[name], type=list[int])
    found: list[Reference] = []
    line = 0
    for at in range(0, len(numbers), _WIDTH):
        step, column, kind, receiver, scope = numbers[at : at + _WIDTH]
        line += step
        found.append(
            Reference(
                name=name,
                line=line,
                column=column,
                kind=kinds[kind],
                receiver=packed.receivers[receiver],
                scope=scope - 1,
            )
        )
    return found
