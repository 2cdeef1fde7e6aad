"""Rank by meaning: rerank the best answers by how close they are to the question.

Optional: without the extra `semantic` nothing changes. No vectors are stored; a question encodes its candidates.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from operator import add, mul
from pathlib import Path
from typing import Any, Final

from laconic.index.search.query import Query
from laconic.index.search.ranking import RankedSymbol
from laconic.index.search.terms import find_identifiers
from laconic.index.search_words import split

Encoder = Callable[[str], Sequence[float]]

CANDIDATES: Final = 40  # answers that are compared with the question
_WEIGHT: Final = 1.0  # of the nearness against the lexical score, both from 0 to 1
_FEWEST: Final = 4  # words that make a question
_DIMENSIONS: Final = 256
_SIGNATURE: Final = 80  # characters
_DOC: Final = 120


def is_question(query: Query) -> bool:
    """Whether a query is a question in words: names and kinds of names are found better by their letters."""
    return len(query.text.split()) >= _FEWEST and not query.kinds and not find_identifiers(query.text)


def reorder(
    encode: Encoder, question: str, rows: Sequence[tuple[float, RankedSymbol]]
) -> list[tuple[float, RankedSymbol]]:
    """The same rows and the same scores, best first; which row has which score depends on both orders."""
    head = rows[:CANDIDATES]
    if len(head) < 2:
        return list(rows)
    wanted = encode(question)
    near = _stretch([_cosine(wanted, encode(describe(row))) for _, row in head])
    best = head[0][0] or 1.0
    fused = []
    for (score, _), nearness in zip(head, near, strict=True):
        fused.append(score / best + _WEIGHT * nearness)
    order = sorted(range(len(head)), key=lambda at: -fused[at])
    return [(score, head[at][1]) for (score, _), at in zip(head, order, strict=True)] + list(rows[CANDIDATES:])


def describe(row: RankedSymbol) -> str:
    """What a candidate is about, in few words."""
    place = split(" ".join(row.path.rsplit(".", 1)[0].split("/")[-2:])).lower()
    symbol = row.symbol
    if symbol is None:
        return place
    return f"{place} {split(symbol.qualified).lower()} {symbol.signature[:_SIGNATURE]} {symbol.doc[:_DOC]}"


@cache
def load_encoder() -> Encoder | None:
    """The encoder of the extra, or None. Its model is mapped, not read: a question touches a few rows of it."""
    found = find_spec("wordllama")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent  # only its files are used: importing it would load the whole model
    model = folder / "weights" / "l2_supercat_256.safetensors"
    words = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if not (model.is_file() and words.is_file()):
        return None
    from tokenizers import Tokenizer  # only with the extra

    return _MeanVectors(Tokenizer.from_file(str(words)), model)


class _MeanVectors:
    """A text as the mean of the vectors of its tokens."""

    def __init__(self, tokenizer: Any, model: Path) -> None:
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        with model.open("rb") as file:
            self._rows = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._start = 8 + int(struct.unpack_from("<Q", self._rows)[0])  # a length, that much JSON, then the numbers
        self._row = struct.Struct(f"<{_DIMENSIONS}e")

    def __call__(self, text: str) -> Sequence[float]:
        total = [0.0] * _DIMENSIONS
        for token in self._tokenizer.encode(text, add_special_tokens=False).ids:
            total = list(map(add, total, self._row.unpack_from(self._rows, self._start + token * self._row.size)))
        return total


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths:
        return 0.0
    return math.fsum(map(mul, one, other)) / lengths


def _stretch(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    found: list[float] = []
    for value in values:
        found.append((value - low) / ((high - low) or 1.0))
    return found
