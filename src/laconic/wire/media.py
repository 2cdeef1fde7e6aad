"""Tokens of images, documents, sound and video, as providers count them: by pixels, pages and seconds, never by bytes.

Only the first bytes of a picture are looked at. What cannot be read counts as a large one.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from laconic.wire.content import without_marks
from laconic.wire.formats import FORMATS
from laconic.wire.media_shape import MediaShape
from laconic.wire.turns_and_blocks import Block

_SMALL: Final = 1_000  # bytes below which a block is counted as it is
_HEAD: Final = 256 * 1024  # characters of base64 in which a picture's size is looked for
_DATA: Final = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,")
_UNKNOWN: Final = (1568, 1568)  # pixels of a picture whose size cannot be read: as large as it gets
_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES: Final = re.compile(rb"/Count\s+([0-9]{1,5})")
_PAGE_BYTES: Final = 60_000  # of a document whose pages cannot be counted
_BYTES_A_SECOND: Final = {"audio": 8_000, "video": 125_000}  # of what is compressed
_LONGEST: Final = 60_000  # tokens of one document, at the most: providers bound them too


def _find_shapes() -> tuple[MediaShape, ...]:
    found: list[MediaShape] = []
    for format in FORMATS.values():
        if format.media is not None and format.media not in found:
            found.append(format.media)
    return tuple(found)


# A client may speak one provider's format to another's model, and pass on what a tool gave it: a block is read in the
# shapes of all providers, and what one of them counts more for counts so.
_SHAPES: Final = _find_shapes()
_MARKS: Final = tuple(mark for shape in _SHAPES for mark in shape.marks)
_TYPES: Final = tuple(name for shape in _SHAPES for name in shape.types)
_URLS: Final = tuple(name for shape in _SHAPES for name in shape.urls)


class MediaPart(msgspec.Struct, frozen=True):
    """Something in a message that is no text."""

    type: str  # image, audio, video, document
    data: str = ""  # base64; empty: it stands elsewhere
    low: bool = False  # the client asks for little detail


def count_block(block: Block, count: Callable[[str], int]) -> int:
    """Tokens of a block as it is written; media in it count as their provider counts them."""
    raw = without_marks(block.raw)
    if len(raw) < _SMALL or not any(mark in raw for mark in _MARKS):
        return count(raw.decode("utf-8", "replace"))
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return count(raw.decode("utf-8", "replace"))
    found = list(_media(value))
    if not found:
        return count(raw.decode("utf-8", "replace"))
    size = count(msgspec.json.encode(_without(value)).decode("utf-8", "replace"))
    return size + sum(tokens_of(medium) for medium in found)


def tokens_of(medium: MediaPart) -> int:
    """Tokens of one image, document, recording."""
    if medium.type == "image":
        return _count_image_tokens(*(_pixels(medium.data) or _UNKNOWN), low=medium.low)
    size = len(medium.data) * 3 // 4
    if medium.type == "document":
        most = max(shape.page_tokens for shape in _SHAPES)
        return min(_LONGEST, most * _pages(medium.data, size))
    seconds = _wave_seconds(medium.data) or max(1, size // _BYTES_A_SECOND[medium.type])
    most = max(shape.second_tokens.get(medium.type, 0) for shape in _SHAPES)
    return min(_LONGEST, most * seconds)


def _media(value: object) -> Iterator[MediaPart]:
    """Media anywhere in a block."""
    if isinstance(value, list):
        for inner in value:
            yield from _media(inner)
    elif isinstance(value, dict):
        own = _medium(value)
        if own is not None:
            yield own
        else:
            for inner in value.values():
                yield from _media(inner)


def _medium(value: Mapping[str, object]) -> MediaPart | None:
    if value.get("type") == "text":  # a document that is written out
        return None
    low = value.get("detail") == "low"
    data = value.get("data")
    kind = next((value[name] for name in _TYPES if value.get(name)), None)
    if isinstance(data, str) and isinstance(kind, str):
        return MediaPart(_type(kind), data, low)
    for name in _URLS:
        text = value.get(name)
        if isinstance(text, str) and (found := _DATA.match(text[:200])):
            return MediaPart(_type(found["type"] or ""), text[found.end() :], low)
    return None


def _without(value: object) -> object:
    """A block without its media's bytes."""
    if isinstance(value, list):
        return [_without(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if _medium(value) is None:
        return {name: _without(inner) for name, inner in value.items()}
    return {name: "" if name in ("data", *_URLS) else inner for name, inner in value.items()}


def _type(kind: str) -> str:
    main = kind.split("/", 1)[0].lower()
    if main in {"image", "audio", "video"}:
        return main
    if main in {"wav", "mp3"}:
        return "audio"
    return "document"


def _count_image_tokens(width: int, height: int, *, low: bool) -> int:
    """The most that a provider counts."""
    most = max(shape.low_tokens for shape in _SHAPES)
    if low:
        return most
    for shape in _SHAPES:
        if shape.image_tokens is not None:
            most = max(most, shape.image_tokens(width, height))
    return most


def _decode(data: str, characters: int) -> bytes:
    part = data[: characters - characters % 4]
    try:
        return binascii.a2b_base64(part.replace("-", "+").replace("_", "/"))
    except (binascii.Error, ValueError):
        return b""


def _pixels(data: str) -> tuple[int, int] | None:
    head = _decode(data, _HEAD)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
    elif head[:6] in {b"GIF87a", b"GIF89a"} and len(head) >= 10:
        width, height = struct.unpack("<HH", head[6:10])
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    elif head[:2] == b"\xff\xd8":
        return _jpeg(head)
    else:
        return None
    if width and height:
        return (width, height)
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """From the first frame header."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            if width and height:
                return (width, height)
            return None
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[12:16] == b"VP8X" and len(head) >= 30:
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if head[12:16] == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)
    if head[12:16] == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _pages(data: str, size: int) -> int:
    whole = _decode(data, len(data))
    stated = []
    for found in _PAGES.findall(whole):
        stated.append(int(found))
    return max(1, len(_PAGE.findall(whole)), max(stated, default=0) or size // _PAGE_BYTES)


def _wave_seconds(data: str) -> int:
    head = _decode(data, 4_000)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE" or len(head) < 32:
        return 0
    rate = int.from_bytes(head[28:32], "little")  # bytes a second
    if rate:
        return max(1, len(data) * 3 // 4 // rate)
    return 0
