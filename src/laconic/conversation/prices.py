"""What models cost: one table of list prices with its date and source, and what the settings say instead.

Dollars per million tokens, read on 2026-11-16 from the price tables that two packages carry, genai-prices 0.2.1 and
litellm 1.108.4. Most rows are in both, some (older models, and variants) in one; a model on which the two disagree has
none. Where a price depends on the time of day the lower one is here. Prices of batch, flex and priority requests are not.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import Final

import msgspec

from laconic.errors import BadSetting

_VENDOR: Final = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|mistral|moonshotai?|zai|xai)\.")
_SUFFIX: Final = re.compile(  # dates and the like, which do not change a price
    r"(?:[-@:](?:latest|preview|exp|customtools|v\d+|\d{4,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4})|:\d+|\[1m\])*"
)
_HOST: Final = re.compile(r"\w+://(?:[^/@]*@)?(?:\[([^\]]+)\]|([^/:]+))")
_LOCAL: Final = re.compile(r"[^.]+|.*\.(?:localhost|local|lan|internal|home\.arpa)")
_FORM: Final = "Write PATTERN=INPUT/OUTPUT in dollars per million tokens: `qwen*=0/0, mymodel=1.2/6`."


class Price(msgspec.Struct, frozen=True):
    """A model's prices relative to a plain input token, what that token costs, and the rules of the cache."""

    read: float  # a token that is read from the cache
    write: float  # a token that is written to it
    lifetime: float  # seconds that an entry lives after its last use
    smallest: int  # tokens from which a prefix is cached at all
    plain: float = 1.0  # a token that is not cached
    dollars: float | None = None  # for a million plain input tokens; None: not known
    lookback: int = 20  # blocks behind a mark in which an earlier prefix is found
    output: float = 5.0  # a token of an answer, thinking too
    hour: float = 2.0  # a token that is written to the cache for an hour
    above: int = 0  # tokens of a prompt above which the whole request costs more; 0: no such limit
    above_input: float = 1.0  # and how many times as much
    above_output: float = 1.0
    weights: bool = False  # they are published: on a server of one's own the model costs nothing

    @property
    def known(self) -> bool:
        return self.dollars is not None

    def prompt_dollars(self, *, plain: float, read: float, write: float, hour: float) -> float:
        """What a prompt costs; `hour` of the tokens that are written are kept for an hour. 0 where it is not known."""
        units = self.plain * plain + self.read * read + self.write * (write - hour) + self.hour * hour
        return units * self._dollar * self._factor(plain + read + write, self.above_input)

    def output_dollars(self, output: float, prompt: float) -> float:
        """What an answer to a prompt of so many tokens costs."""
        return self.output * output * self._dollar * self._factor(prompt, self.above_output)

    @property
    def _dollar(self) -> float:
        return (self.dollars or 0.0) / 1e6

    def _factor(self, prompt: float, factor: float) -> float:
        return factor if self.above and prompt > self.above else 1.0


def _claude(input: float, output: float, read: float = 0.0, smallest: int = 1024) -> Price:
    return Price(
        read=read / input if read else 0.1,
        write=1.25,
        lifetime=300,
        smallest=smallest,
        dollars=input,
        output=output / input,
    )


def _openai(input: float, output: float, read: float = 0.0, *, write: float = 1.0, tier: bool = False) -> Price:
    return Price(
        read=read / input if read else 1.0,
        write=write,
        lifetime=600,
        smallest=1024,
        dollars=input,
        output=output / input,
        hour=write,
        above=272_000 if tier else 0,
        above_input=2.0,
        above_output=1.5,
    )


def _gemini(input: float, output: float, read: float, *, tier: bool = False) -> Price:
    return Price(
        read=read / input,
        write=1.0,
        lifetime=300,
        smallest=2048,
        dollars=input,
        output=output / input,
        hour=1.0,
        above=200_000 if tier else 0,
        above_input=2.0,
        above_output=1.5,
    )


def _grok(input: float, output: float, read: float) -> Price:
    return Price(
        read=read / input,
        write=1.0,
        lifetime=600,
        smallest=1024,
        dollars=input,
        output=output / input,
        hour=1.0,
        above=200_000,
        above_input=2.0,
        above_output=2.0,
    )


def _open(input: float, output: float, read: float, smallest: int = 1024) -> Price:
    """A model whose weights are published, at its maker's prices."""
    return Price(
        read=read / input,
        write=1.0,
        lifetime=3600,
        smallest=smallest,
        dollars=input,
        output=output / input,
        hour=1.0,
        weights=True,
    )


# A row holds for its name with a date or a version behind it; other variants have rows of their own, or no price.
# Points are written as hyphens, which is how half of the providers write them.
PRICES: Final[dict[str, Price]] = {
    **dict.fromkeys(("claude-fable-5",), _claude(10, 50)),
    **dict.fromkeys(("claude-fable-5-1",), _claude(10, 50, 0.25)),
    **dict.fromkeys(("claude-opus-5-5",), _claude(4, 20, 0.2)),
    **dict.fromkeys(
        ("claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5"), _claude(5, 25)
    ),
    **dict.fromkeys(("claude-opus-4-1", "claude-opus-4-0", "claude-opus-4", "claude-3-opus"), _claude(15, 75)),
    **dict.fromkeys(("claude-sonnet-5-5",), _claude(2, 10, 0.1)),
    **dict.fromkeys(("claude-sonnet-5",), _claude(2, 10)),
    **dict.fromkeys(
        (
            *("claude-sonnet-4-6", "claude-sonnet-4-5", "claude-sonnet-4-0", "claude-sonnet-4"),
            *("claude-3-7-sonnet", "claude-3-5-sonnet", "claude-3-sonnet"),
        ),
        _claude(3, 15),
    ),
    "claude-haiku-5-5": msgspec.structs.replace(
        _claude(0.1, 0.5, smallest=2048), above=100_000, above_input=5.0, above_output=5.0
    ),
    "claude-haiku-4-5": _claude(1, 5, smallest=2048),
    "claude-3-5-haiku": _claude(0.8, 4, smallest=2048),
    "gpt-6-astra": _openai(10, 50, 1, write=1.25, tier=True),
    "gpt-6-1-sol": _openai(2, 10, 0.1, write=1.25, tier=True),
    "gpt-6-1-terra": _openai(1, 5, 0.05, write=1.25, tier=True),
    "gpt-6-sol": _openai(2, 10, 0.2, write=1.25, tier=True),
    "gpt-6-luna": _openai(0.1, 0.5, 0.01, write=1.25, tier=True),
    **dict.fromkeys(("gpt-5-6", "gpt-5-6-sol"), _openai(4, 20, 0.4, write=1.25, tier=True)),
    "gpt-5-6-terra": _openai(2, 12, 0.2, write=1.25, tier=True),
    "gpt-5-6-luna": _openai(0.2, 1.2, 0.02, write=1.25, tier=True),
    "gpt-5-5": _openai(5, 30, 0.5, tier=True),
    **dict.fromkeys(("gpt-5-5-pro", "gpt-5-4-pro"), _openai(30, 180, tier=True)),
    "gpt-5-4": _openai(2.5, 15, 0.25, tier=True),
    "gpt-5-4-mini": _openai(0.75, 4.5, 0.075),
    "gpt-5-4-nano": _openai(0.2, 1.25, 0.02),
    **dict.fromkeys(("gpt-5-3-codex", "gpt-5-2", "gpt-5-2-codex", "gpt-5-2-chat"), _openai(1.75, 14, 0.175)),
    "gpt-5-2-pro": _openai(21, 168),
    **dict.fromkeys(
        ("gpt-5", "gpt-5-chat", "gpt-5-codex", "gpt-5-1", "gpt-5-1-chat", "gpt-5-1-codex", "gpt-5-1-codex-max"),
        _openai(1.25, 10, 0.125),
    ),
    **dict.fromkeys(("gpt-5-mini", "gpt-5-1-codex-mini"), _openai(0.25, 2, 0.025)),
    "gpt-5-nano": _openai(0.05, 0.4, 0.005),
    "gpt-5-pro": _openai(15, 120),
    "codex-mini": _openai(1.5, 6, 0.375),
    "gpt-4-1": _openai(2, 8, 0.5),
    "gpt-4-1-mini": _openai(0.4, 1.6, 0.1),
    "gpt-4-1-nano": _openai(0.1, 0.4, 0.025),
    "gpt-4o": _openai(2.5, 10, 1.25),
    "gpt-4o-2024-05-13": _openai(5, 15),
    "gpt-4o-mini": _openai(0.15, 0.6, 0.075),
    "o1": _openai(15, 60, 7.5),
    "o3": _openai(2, 8, 0.5),
    "o3-pro": _openai(20, 80),
    "o3-mini": _openai(1.1, 4.4, 0.55),
    "o4-mini": _openai(1.1, 4.4, 0.275),
    "gemini-4-argon": _gemini(2, 10, 0.1),
    **dict.fromkeys(("gemini-3-8-flash", "gemini-3-7-flash", "gemini-3-6-flash"), _gemini(0.75, 3.75, 0.075)),
    "gemini-3-5-flash": _gemini(1.5, 9, 0.15),
    "gemini-3-5-flash-lite": _gemini(0.3, 2.5, 0.03),
    **dict.fromkeys(("gemini-3-1-pro", "gemini-3-pro"), _gemini(2, 12, 0.2, tier=True)),
    "gemini-3-1-flash-lite": _gemini(0.25, 1.5, 0.025),
    "gemini-3-flash": _gemini(0.5, 3, 0.05),
    "gemini-2-5-pro": _gemini(1.25, 10, 0.125, tier=True),
    "gemini-2-5-flash": _gemini(0.3, 2.5, 0.03),
    "gemini-2-5-flash-lite": _gemini(0.1, 0.4, 0.01),
    **dict.fromkeys(("grok-4-7", "grok-4-6"), _grok(2, 6, 0.5)),
    "grok-4-5": _grok(2, 6, 0.3),
    **dict.fromkeys(
        ("grok-4-3", "grok-4-20", "grok-4-20-reasoning", "grok-4-20-non-reasoning"), _grok(1.25, 2.5, 0.2)
    ),
    "deepseek-v4-pro": _open(0.66, 1.98, 0.022, 64),  # twice as much in the peak hours
    **dict.fromkeys(("deepseek-v4-flash", "deepseek-flash"), _open(0.15, 0.6, 0.003, 64)),  # here too
    "kimi-k3": _open(3, 15, 0.3),
    "kimi-k2-7-code": _open(0.95, 4, 0.19),
    "kimi-k2-6": _open(0.95, 4, 0.16),
    "kimi-k2-5": _open(0.6, 3, 0.1),
    **dict.fromkeys(("glm-5-3", "glm-5-2", "glm-5-1"), _open(1.4, 4.4, 0.26)),
    "glm-5-3-flash": _open(0.15, 0.5, 0.03),
    "glm-5": _open(1, 3.2, 0.2),
    **dict.fromkeys(("glm-4-7", "glm-4-6", "glm-4-5"), _open(0.6, 2.2, 0.11)),
    "glm-4-5-air": _open(0.2, 1.1, 0.03),
    **dict.fromkeys(("mistral-medium-latest", "mistral-medium-3-5"), _open(1.5, 7.5, 0.15)),
    "mistral-large-2512": _open(0.5, 1.5, 0.05),
    "codestral-2508": _open(0.3, 0.9, 0.03),
    "devstral-2512": _open(0.4, 2, 0.04),
}
# Whose price is not known still has a cache: the rules of the family, by how its names begin.
_FAMILIES: Final[tuple[tuple[str, Price], ...]] = (
    ("claude-haiku", Price(0.1, 1.25, 300, 2048)),
    ("claude", Price(0.1, 1.25, 300, 1024)),
    ("gpt-oss", Price(0.1, 1.0, 3600, 1024, hour=1.0, weights=True)),
    ("gpt", Price(0.1, 1.0, 600, 1024, output=8.0, hour=1.0)),
    ("gemini", Price(0.1, 1.0, 300, 2048, output=8.0, hour=1.0)),
    ("deepseek", Price(0.1, 1.0, 3600, 64, hour=1.0, weights=True)),
    ("kimi", Price(0.25, 1.0, 3600, 1024, hour=1.0, weights=True)),
    ("glm", Price(0.2, 1.0, 3600, 1024, hour=1.0, weights=True)),
    ("grok", Price(0.25, 1.0, 600, 1024, hour=1.0)),
)
UNKNOWN: Final = Price(0.1, 1.25, 300, 1024)


def price_of(model: str) -> Price:
    """The list price of a model. One that is not known has none, and the dearest cache: it asks for most caution."""
    name = _VENDOR.sub("", model.lower().rsplit("/", 1)[-1], count=1).replace(".", "-")
    rows = [row for row in PRICES if name.startswith(row) and _SUFFIX.fullmatch(name[len(row) :])]
    if rows:
        return PRICES[max(rows, key=len)]
    if re.match(r"o\d", name):
        return Price(0.25, 1.0, 600, 1024, hour=1.0)
    return next((price for start, price in _FAMILIES if name.startswith(start)), UNKNOWN)


def is_local(base: str) -> bool:
    """Whether an address is of this machine or of a private network."""
    found = _HOST.match(base)
    if found is None:
        return False
    host = (found[1] or found[2]).lower()
    try:
        address = ip_address(host)
    except ValueError:
        return _LOCAL.fullmatch(host) is not None
    return address.is_loopback or address.is_private or address.is_link_local


class Prices:
    """Prices of models: by the setting, else by the table, else nothing on a server of one's own, else not known."""

    def __init__(self, setting: str = "") -> None:
        self._own = [_own(pair) for pair in filter(None, (pair.strip() for pair in setting.split(",")))]

    def of(self, model: str, base: str = "") -> Price:
        """The price of a model at an address."""
        listed = price_of(model)
        names = (model.lower(), model.lower().rsplit("/", 1)[-1])
        for pattern, figures in self._own:
            if any(fnmatchcase(name, pattern) for name in names):
                return _priced(listed, figures)
        if is_local(base) and (listed.weights or not listed.known):
            return msgspec.structs.replace(listed, dollars=0.0)
        return listed


def _own(pair: str) -> tuple[str, list[float]]:
    pattern, _, said = pair.partition("=")
    try:
        figures = [float(word) for word in said.split("/")]
    except ValueError:
        figures = []
    if not pattern.strip() or not 2 <= len(figures) <= 5 or any(not 0 <= figure < 1e6 for figure in figures):
        raise BadSetting(f"prices: {pair!r} is no price.", _FORM)
    if not figures[0] and any(figures):
        raise BadSetting(f"prices: {pair!r} is no price: where input is free, all is.", _FORM)
    return pattern.strip().lower(), figures


def _priced(listed: Price, figures: list[float]) -> Price:
    """A price of the user's: input/output, and where they are named cache read, cache write and hour's write."""
    input, output, *cache = figures
    if not input:
        return msgspec.structs.replace(listed, dollars=0.0, above=0)
    ratios = [figure / input for figure in cache]
    known = [listed.read, listed.write, listed.hour] if listed.known else [1.0, 1.0, 1.0]
    read, write, hour = [*ratios, *known[len(ratios) :]]
    return msgspec.structs.replace(
        listed, dollars=input, output=output / input, read=read, write=write, hour=max(write, hour), above=0
    )
