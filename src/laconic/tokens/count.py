"""Counters: text in, tokens out, with counts remembered by content hash."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from laconic.models.find_model import find_model
from laconic.models.model import Tokenizer
from laconic.tokens.exact import Measure, load, prepare

_REMEMBERED: Final = 65_536  # counts kept by one counter, about 6 MB
_WORTH_HASHING: Final = 256  # characters; below that counting is as fast as hashing


class Counter:
    """Counts the tokens of a text for one tokenizer. Call it."""

    def __init__(self, kind: Tokenizer, measure: Measure) -> None:
        self._kind = kind
        self._exactly = measure
        self._counts: dict[bytes, int] = {}

    @property
    def name(self) -> str:
        """What a report says: the encoding, and by what its counts are multiplied."""
        if self._kind.factor == 1.0:
            return self._kind.encoding
        return f"{self._kind.encoding} x {self._kind.factor:.3g}"

    @property
    def exact(self) -> bool:
        return self._kind.exact

    def __call__(self, text: str) -> int:
        raw = self._raw(text)
        if self._kind.factor == 1.0:
            return raw
        return round(raw * self._kind.factor)

    def _raw(self, text: str) -> int:
        if len(text) < _WORTH_HASHING:
            return self._measure(text)
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(key)
        if known is None:
            known = self._measure(text)
            if len(self._counts) >= _REMEMBERED:
                del self._counts[next(iter(self._counts))]
            self._counts[key] = known
        return known

    def _measure(self, text: str) -> int:
        try:
            return self._exactly(text)
        except UnicodeEncodeError:  # lone surrogates, from a file that is not UTF-8
            return self._exactly(text.encode("utf-8", "replace").decode("utf-8"))


def counter(model: str = "gpt-5") -> Counter:
    """The counter for a model name or an encoding name."""
    kind = find_model(model).tokenizer
    return Counter(kind, load(kind.encoding))


def warm_up(model: str = "gpt-5") -> None:
    """Make a tokenizer ready to count anything at once."""
    prepare(find_model(model).tokenizer.encoding)
