"""Texts and their tokens: what tools print, made shorter."""

from __future__ import annotations

import msgspec

from laconic.reduce.text import reduce_text
from laconic.tokens.count import counter

_MODEL = "gpt-5"


class ShortenedText(msgspec.Struct, frozen=True):
    """A text that became shorter."""

    text: str
    kind: str  # what the text was taken for: tests, log, json, ...
    lossless: bool  # nothing was left out but repetition and decoration
    tokens: int
    tokens_before: int

    def __str__(self) -> str:
        return self.text


def shorten(text: str, budget: int = 0, *, model: str = _MODEL) -> ShortenedText:
    """The lines of a text that matter, in at most `budget` tokens; 0: as short as its content allows."""
    count = counter(model)
    view = reduce_text(text, cost=count, budget=max(0, budget))
    return ShortenedText(
        text=view.text,
        kind=str(view.kind),
        lossless=view.lossless,
        tokens=count(view.text),
        tokens_before=count(text),
    )


def count_tokens(text: str, *, model: str = _MODEL) -> int:
    """The tokens of a text; exact where the model's vocabulary is public, else an estimate."""
    return counter(model)(text)
