"""A file's bytes as lines that can be edited and put back together without touching anything else.

Byte order mark, the ending of every line, a missing final newline and bytes that are not UTF-8 all survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from laconic.errors import Unreadable

_BOM: Final = b"\xef\xbb\xbf"
_OTHER_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
TAG_LENGTH: Final = 6


@dataclass(frozen=True, slots=True)
class SourceText:
    """The pieces between newlines. A file that ends in a newline has an empty last piece, which is not a line."""

    pieces: tuple[str, ...]
    endings: tuple[str, ...]  # after each piece but the last
    bom: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        if self.pieces and self.pieces[-1]:
            return self.pieces
        return self.pieces[:-1]

    @property
    def ending(self) -> str:
        """The ending for new lines: the one in use, or the more frequent one where a file mixes them."""
        windows = sum(ending == "\r\n" for ending in self.endings)
        if windows * 2 > len(self.endings):
            return "\r\n"
        return "\n"

    @property
    def text(self) -> str:
        """The text with plain newlines and no byte order mark: what tags and exact searches see."""
        return "\n".join(self.pieces)

    @property
    def tag(self) -> str:
        """Names this content. White space counts; byte order mark and style of line endings do not."""
        return tag_of(self.text)


def tag_of(text: str) -> str:
    """The tag of a text with plain newlines."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:TAG_LENGTH]


def split(data: bytes) -> SourceText:
    """Bytes to lines; what is not text is refused."""
    if data.startswith(_OTHER_BOMS) or b"\0" in data:
        raise Unreadable("The file is binary or not UTF-8.", "Edit text files only.")
    bom = data.startswith(_BOM)
    if bom:
        text = data[len(_BOM) :].decode("utf-8", "surrogateescape")
    else:
        text = data.decode("utf-8", "surrogateescape")
    raw = text.split("\n")
    pieces = []
    for piece in raw[:-1]:
        pieces.append(piece.removesuffix("\r"))
    endings = []
    for piece in raw[:-1]:
        endings.append("\r\n" if piece.endswith("\r") else "\n")
    return SourceText((*pieces, raw[-1]), tuple(endings), bom)


def join(source: SourceText) -> bytes:
    """Lines back to bytes: the inverse of `split`."""
    parts = []
    for piece, ending in zip(source.pieces, (*source.endings, ""), strict=True):
        parts.append(piece + ending)
    return (_BOM if source.bom else b"") + "".join(parts).encode("utf-8", "surrogateescape")


def splice(source: SourceText, changes: tuple[tuple[int, int, tuple[str, ...]], ...]) -> SourceText:
    """Replace piece ranges (from, to, new pieces); the ranges are sorted and do not overlap."""
    style = source.ending
    pieces: list[str] = []
    endings: list[str] = []
    kept = (*source.endings, style)
    position = 0
    for start, stop, new in changes:
        pieces += source.pieces[position:start]
        endings += kept[position:start]
        pieces += new
        endings += [_style(source, start, style)] * len(new)
        position = stop
    pieces += source.pieces[position:]
    endings += kept[position:]
    if not pieces:
        return SourceText(("",), (), source.bom)
    return SourceText(tuple(pieces), tuple(endings[: len(pieces) - 1]), source.bom)


def _style(source: SourceText, index: int, style: str) -> str:
    """In a file of mixed endings a new line ends like the one it replaces."""
    if index < len(source.endings):
        return source.endings[index]
    return style
