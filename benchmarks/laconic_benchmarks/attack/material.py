"""Random content that looks like an agent's work: files, logs, JSON, pictures, documents, sounds. Cheap to make."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import dataclass
from random import Random
from typing import Final

_WORDS: Final = (
    "request",
    "parser",
    "buffer",
    "session",
    "window",
    "ledger",
    "token",
    "retry",
    "stream",
    "socket",
    "handler",
    "index",
    "query",
    "total",
    "price",
    "round",
    "cache",
    "turn",
    "block",
    "result",
    "header",
    "branch",
    "merge",
    "commit",
    "build",
    "path",
    "value",
    "table",
    "column",
    "widget",
    "color",
    "shape",
    "vector",
    "matrix",
)
_FOREIGN: Final = ("naïve", "日本語", "привет", "🎉", "€", "e\u0301", "\u2028", "\u202eabc", "\x7f", "\t")
_PLAIN: Final = 24  # outputs that are remembered to be repeated
_LARGE: Final = 2_000_000  # base64 characters of the largest picture


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, a document or a sound as requests carry it."""

    type: str
    data: str  # base64


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gave back."""

    texts: tuple[str, ...]
    media: tuple[Media, ...] = ()
    error: bool = False


class Material:
    """Draws content from a random source. `odd`: with half surrogate pairs, which only escaped JSON can carry."""

    def __init__(self, random: Random, *, odd: bool = False, small: bool = True) -> None:
        self._random = random
        self._odd = odd
        self._small = small
        self._earlier: list[str] = []

    def words(self, count: int) -> str:
        chosen = self._random.choices(_WORDS, k=max(1, count))
        if self._random.random() < 0.1:
            chosen.append(self._random.choice(_FOREIGN))
        if self._odd and self._random.random() < 0.2:
            chosen.append("\ud800")
        return " ".join(chosen)

    def path(self) -> str:
        first, second = self._random.choices(_WORDS, k=2)
        return f"src/{first}/{second}_{self._random.randrange(40)}.py"

    def output(self) -> ToolOutput:
        """The result of one call: mostly text of modest size, now and then something else."""
        draw = self._random.random()
        if draw < 0.02:
            return ToolOutput((), (self.media(),))  # nothing but a picture
        if draw < 0.05:
            return ToolOutput((self.words(8),), (self.media(),))
        if draw < 0.09:
            return ToolOutput((f"Error: {self.words(20)}",), error=True)
        if draw < 0.12:
            return ToolOutput((self.words(5), self.text()))
        return ToolOutput((self.text(),))

    def text(self) -> str:
        """Ten bytes to 200 kB, a repeat of an earlier text now and then."""
        random = self._random
        if self._earlier and random.random() < 0.12:
            return random.choice(self._earlier)
        make = random.choices((self._listing, self._log, self._json, self._tiny, self._endless), (5, 4, 2, 3, 0.3))[0]
        text = make(self._rows())
        if len(self._earlier) < _PLAIN:
            self._earlier.append(text)
        else:
            self._earlier[random.randrange(_PLAIN)] = text
        return text

    def media(self) -> Media:
        """Valid headers with real dimensions, any bytes behind them."""
        random = self._random
        size = random.choice((700, 3_000, 20_000, 60_000))
        if random.random() < (0.02 if self._small else 0.15):
            size = random.choice((150_000, 250_000, _LARGE * 3 // 4))
        kind = random.choices(("png", "jpeg", "pdf", "wav"), (6, 3, 1, 1))[0]
        wide, high = random.randrange(16, 2400), random.randrange(16, 1600)
        noise = random.randbytes(size)
        if kind == "png":
            return Media("image/png", encode(png(wide, high, noise)))
        if kind == "jpeg":
            return Media("image/jpeg", encode(jpeg(wide, high, noise)))
        if kind == "pdf":
            return Media("application/pdf", encode(pdf(1 + random.randrange(5), noise)))
        return Media("audio/wav", encode(wav(noise)))

    def _rows(self) -> int:
        draw = self._random.random()
        if draw < 0.6:
            return self._random.randrange(1, 30)
        if draw < (0.985 if self._small else 0.9):
            return self._random.randrange(30, 200)
        return self._random.randrange(200, 4000)

    def _listing(self, rows: int) -> str:
        """A file with numbered lines."""
        random, name = self._random, self._random.choice(_WORDS)
        start = random.choice((1, 1, 1, random.randrange(900)))
        mark = random.randrange(10**6)
        return "\n".join(
            f"{number:>6}\t    {name}_{mark}_{number} = compute({number * 37 % 101}, '{_WORDS[number % len(_WORDS)]}')"
            for number in range(start, start + rows)
        )

    def _log(self, rows: int) -> str:
        word, mark = self._random.choice(_WORDS), self._random.randrange(10**6)
        lines = [
            f"2026-01-01 10:{row // 60 % 60:02}:{row % 60:02} INFO {word}: step {row} of {rows} in {mark} ms"
            if row % 7
            else f"tests/test_{word}.py::test_{mark}_{row} PASSED"
            for row in range(rows)
        ]
        lines.append(self.words(6))
        return "\n".join(lines)

    def _json(self, rows: int) -> str:
        mark = self._random.randrange(10**6)
        return json.dumps(
            [{"id": mark + row, "name": _WORDS[row % len(_WORDS)], "ok": row % 3 > 0} for row in range(rows)]
        )

    def _tiny(self, rows: int) -> str:
        return self.words(2 + rows // 20)

    def _endless(self, rows: int) -> str:
        """One line without an end."""
        return self.words(20 * rows).replace("\t", " ")


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(wide: int, high: int, noise: bytes) -> bytes:
    """A picture whose header is true; its pixels are noise."""
    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", noise), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def jpeg(wide: int, high: int, noise: bytes) -> bytes:
    start = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    frame = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", high, wide) + b"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
    return start + frame + b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00" + noise + b"\xff\xd9"


def pdf(pages: int, noise: bytes) -> bytes:
    tree = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count " + str(pages).encode()
    leaves = b"".join(b"%d 0 obj<</Type/Page/Parent 2 0 R>>endobj\n" % (number + 3) for number in range(pages))
    return tree + b">>endobj\n" + leaves + b"99 0 obj<<>>stream\n" + noise + b"\nendstream endobj\n%%EOF"


def wav(noise: bytes) -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(noise))
        + b"WAVE"
        + form
        + b"data"
        + struct.pack("<I", len(noise))
        + noise
    )
