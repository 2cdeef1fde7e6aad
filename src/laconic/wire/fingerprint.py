"""The fingerprint of a request: hashes and sizes of what stands before its end, enough to say which part changed.

It holds names of tools and hashes, no other content.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec

from laconic.wire.content import without_marks
from laconic.wire.json_spans import elements, is_array, value
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.provider_format import ProviderFormat
from laconic.wire.turns_and_blocks import CACHE_MARK, Turn

T = TypeVar("T")
LINE_SIZE: Final = 4  # bytes of a line's hash
BLOCK_SIZE: Final = 6
_TOOL_SIZE: Final = 8
_NAME: Final = 100  # characters of a tool's name
_SPACE: Final = 8  # bytes behind a key in which its colon is
_FIELDS: Final = 64  # tools and system prompts that are remembered
_KEY: Final = 2 * BLOCK_SIZE  # hexadecimal digits


class ToolFingerprint(msgspec.Struct, frozen=True, array_like=True):
    """One element of a list of tools."""

    name: str
    form: bytes  # hash of its bytes, without cache marks
    content: bytes  # hash of what they mean, whatever the order of keys and the white space


class RequestFingerprint(msgspec.Struct, frozen=True, array_like=True):
    """One request."""

    model: str = ""
    tools: tuple[ToolFingerprint, ...] = ()
    system: bytes = b""  # a hash for each line of the system prompt
    blocks: bytes = b""  # a hash for each block of the messages behind it
    marks: tuple[int, ...] = ()  # places of the blocks that carry a cache mark


class FingerprintReader:
    """Takes fingerprints. Tools and system prompts hardly ever change, so theirs are remembered."""

    def __init__(self) -> None:
        self._tools: OrderedDict[bytes, tuple[ToolFingerprint, ...]] = OrderedDict()
        self._systems: OrderedDict[bytes, bytes] = OrderedDict()

    def read(self, conversation: ParsedRequest, model: str = "") -> RequestFingerprint:
        """The fingerprint of a request as it is."""
        format = conversation.format
        system = list(map(conversation.field, format.system))
        leading = _count_leading(conversation.turns)
        for turn in conversation.turns[:leading]:
            system.append(turn.raw)
        raw = b"\0".join(system)
        tools = conversation.field("tools")
        keys, starts = [], []
        for turn in conversation.turns[leading:]:
            for block in turn.blocks:
                keys.append(block.part.key[:_KEY])
                starts.append(block.offset + block.part.span.start)
        return RequestFingerprint(
            model=model or conversation.model,
            tools=_remember(self._tools, tools, lambda: tuple(_read_tools(format, tools))),
            system=_remember(self._systems, raw, lambda: b"".join(_hash_lines(system))),
            blocks=bytes.fromhex("".join(keys)),
            marks=tuple(find_marks(conversation, starts)),
        )


def canonical_hash(decoded: object, size: int = _TOOL_SIZE) -> bytes:
    """A hash of what a JSON value means: the order of keys, white space and escapes do not change it."""
    text = json.dumps(decoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def split_tools(tools: bytes) -> list[bytes]:
    """The elements of a list of tools, as they are written."""
    if not is_array(tools):
        return []
    return [span.of(tools) for span in elements(tools)]


def _read_tools(format: ProviderFormat, tools: bytes) -> Iterator[ToolFingerprint]:
    for raw in split_tools(tools):
        bare = without_marks(raw)
        decoded = value(raw)
        names = []
        for declared in format.read_tools([decoded]):
            names.append(declared.name)
        form = blake2b(bare, digest_size=_TOOL_SIZE).digest()
        yield ToolFingerprint(
            (", ".join(names) or _type_of(decoded))[:_NAME], form, canonical_hash(_without_mark(decoded))
        )


def _type_of(decoded: object) -> str:
    """Tools that a provider runs may have a type and no name."""
    if isinstance(decoded, Mapping):
        return str(decoded.get("name") or decoded.get("type") or "?")
    return "?"


def _without_mark(decoded: object) -> object:
    if isinstance(decoded, dict):
        return {key: inner for key, inner in decoded.items() if key != "cache_control"}
    return decoded


def _count_leading(turns: tuple[Turn, ...]) -> int:
    """Messages at the start that are the system prompt."""
    count = 0
    while count < len(turns) and turns[count].role == "system":
        count += 1
    return count


def _hash_lines(system: list[bytes]) -> Iterator[bytes]:
    for raw in system:
        if not raw:
            continue
        for text in _texts(value(raw)):
            for line in text.split("\n"):
                yield blake2b(line.encode("utf-8", "surrogatepass"), digest_size=LINE_SIZE).digest()


def _texts(decoded: object) -> Iterator[str]:
    if isinstance(decoded, str):
        yield decoded
    elif isinstance(decoded, list):
        for inner in decoded:
            yield from _texts(inner)
    elif isinstance(decoded, dict):
        for name in ("text", "content", "parts"):
            yield from _texts(decoded.get(name))


def find_marks(conversation: ParsedRequest, starts: list[int]) -> Iterator[int]:
    """Places of blocks that hold a mark: the last block that begins before it. What is before all blocks counts not."""
    body = conversation.body
    for at in conversation.find_all(CACHE_MARK):
        place, end = bisect_right(starts, at) - 1, at + len(CACHE_MARK)
        behind = body[end : end + _SPACE].lstrip()
        is_key = body[at - 1 : at] != b"\\" and behind[:1] == b":"  # a text may speak of marks too
        if place >= 0 and is_key:
            yield place


def _remember(known: OrderedDict[bytes, T], raw: bytes, read: Callable[[], T]) -> T:
    key = blake2b(raw, digest_size=16).digest()
    found = known.get(key)
    if found is None:
        found = known[key] = read()
        if len(known) > _FIELDS:
            known.popitem(last=False)
    else:
        known.move_to_end(key)
    return found
