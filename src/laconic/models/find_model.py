"""Find a model in the table by the name that a request gives it, as providers, routers and local servers write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from laconic.models.model import Model, ModelFacts, ModelFamily, Tokenizer
from laconic.models.prices_and_windows import FAMILIES, UNKNOWN, UNKNOWN_TOKENIZER

_VENDOR: Final = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|mistral|moonshotai?|zai|xai)\.")
_DATE: Final = re.compile(  # what may follow the name of a model: it stays the same one, at the same price
    r"(?:[-@:](?:latest|preview|exp|customtools|v\d+|\d{4,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4})|:\d+)*"
)
# What may follow the name of a family: versions, dates, sizes, and the words that providers use. Any other word makes
# it somebody's own model, of which nothing is known.
_VARIANT: Final = re.compile(
    r"(?:[-@_:]?(?:v?\d[\d-]*[bk]?|latest|preview|exp|customtools|experimental|mini|nano|micro|small|large|medium|max|plus|pro|ultra"
    r"|flash|lite|fast|turbo|codex|chat|high|low|thinking|reasoning|non-reasoning|instruct|it|free|beta|online|nitro|vision|image"
    r"|audio|realtime|search|deep-research|reasoner|haiku|sonnet|opus|fable|coder|code|base|distill|qwen|llama|gguf|fp8|awq"
    r"|int4|q\d\w*|terminus|speciale|air|omni|multi-agent|cloud))*"
)
_ANOTHER: Final = re.compile(r"\w|-\d{1,2}(?![\dbk])")  # the rest of a longer word, or a version: another model
_STATED: Final = re.compile(r"-(\d{1,4})([km])$")
_UNITS: Final = {"k": 1_000, "m": 1_000_000}
_LONG: Final = 1_000_000  # what Claude takes when it is asked for a long window
_LONG_MARK: Final = "[1m]"


@lru_cache(maxsize=256)
def find_model(name: str) -> ModelFacts:
    """What is known about a model. Of one that is not known the dearest cache is assumed: it asks for most caution."""
    return find_in(FAMILIES, name)


def find_in(families: Sequence[ModelFamily], name: str) -> ModelFacts:
    """The same in another table."""
    plain, tag = _normalise(name)
    family = next((family for family in families if re.match(family.starts, plain)), None)
    if family is None:
        return ModelFacts(price=UNKNOWN, window=_stated_window(plain), tokenizer=_tokenizer(families, name))
    known = ModelFacts(
        price=family.unpriced,
        window=_stated_window(plain),
        tokenizer=family.tokenizer,
        provider=family.provider,
        calls_functions=family.calls_functions,
    )
    row, rest = _find_row(family, plain)
    if row is None:
        start = re.match(family.starts, plain)
        is_variant = start is not None and _VARIANT.fullmatch(plain[start.end() :])
        return msgspec.structs.replace(known, window=known.window or (family.window if is_variant else 0))
    is_itself = _DATE.fullmatch(f"{rest}{tag}") is not None
    return msgspec.structs.replace(
        known,
        price=row.price if row.price is not None and is_itself else family.unpriced,
        window=known.window or row.window or family.window,
        max_completion_tokens=row.max_completion_tokens,
        counts_cache_reads=row.counts_cache_reads,
    )


def window_of(name: str, wishes: str = "") -> int:
    """Tokens that a model takes; 0 when nobody knows. `wishes`: the betas that a client asks for."""
    if _LONG_MARK in name.lower() or "context-1m" in wishes:
        return _LONG
    return find_model(name).window


def _normalise(name: str) -> tuple[str, str]:
    """A name without its provider, with hyphens for points, and the tag of a local server or a router behind it."""
    last = name.lower().replace(_LONG_MARK, "").rsplit("/", 1)[-1]
    plain, colon, tag = _VENDOR.sub("", last, count=1).replace(".", "-").partition(":")
    return plain, colon + tag


def _find_row(family: ModelFamily, plain: str) -> tuple[Model | None, str]:
    """The row with the longest name that this one begins with, and what follows it."""
    best: tuple[Model | None, str] = (None, "")
    longest = 0
    for model in family.models:
        for name in model.names:
            rest = plain[len(name) :]
            if len(name) > longest and plain.startswith(name) and _is_variant(rest):
                best, longest = (model, rest), len(name)
    return best


def _is_variant(rest: str) -> bool:
    return _VARIANT.fullmatch(rest) is not None and not _ANOTHER.match(rest)


def _stated_window(plain: str) -> int:
    """A window that stands in the name."""
    stated = _STATED.search(plain)
    if stated:
        return int(stated[1]) * _UNITS[stated[2]]
    return 0


def _tokenizer(families: Sequence[ModelFamily], name: str) -> Tokenizer:
    """Somebody's own model counts as the family that its name mentions."""
    plain = name.lower().replace(".", "-")
    for family in families:
        if re.search(rf"(?:^|[/_\-:@ ])(?:{family.starts})", plain):
            return family.tokenizer
    return UNKNOWN_TOKENIZER
