"""The records of the table: a model, its family, its prices and its tokenizer."""

from __future__ import annotations

import msgspec


class Price(msgspec.Struct, frozen=True):
    """A model's prices relative to a plain input token, what that token costs, and the rules of the cache."""

    read: float  # a token that is read from the cache
    write: float  # a token that is written to it
    lifetime: float  # seconds that an entry lives after its last use
    smallest: int  # tokens from which a prefix is cached at all
    plain: float = 1.0  # a token that is not cached
    dollars: float | None = None  # for a million plain input tokens; None: not known
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
        if self.above and prompt > self.above:
            return factor
        return 1.0


class Tokenizer(msgspec.Struct, frozen=True):
    """How a model's tokens are counted. One without a public vocabulary is counted with another's, and a factor."""

    encoding: str
    factor: float = 1.0  # real tokens per counted token
    exact: bool = True  # the vocabulary is public, so the count is the provider's own


class Model(msgspec.Struct, frozen=True):
    """One row: names of models that have all of this in common, with hyphens for points and without a date."""

    names: tuple[str, ...]
    price: Price | None = None  # None: not known
    window: int = 0  # tokens, of a prompt and its answer together; 0: the family's
    max_completion_tokens: bool = False  # it refuses `max_tokens`
    counts_cache_reads: bool = False  # Anthropic: against the limit of tokens per minute


class ModelFamily(msgspec.Struct, frozen=True):
    """Models of which much is known by how their names begin."""

    starts: str  # a regular expression
    tokenizer: Tokenizer
    unpriced: Price  # a model without a price still has a cache
    models: tuple[Model, ...] = ()
    window: int = 0  # of models that have no row; 0: not known
    provider: str = ""  # whose own models they are: anthropic, openai, gemini
    calls_functions: bool = False  # wherever they are served; else a server has to be asked


class ModelFacts(msgspec.Struct, frozen=True):
    """All that is known about one model."""

    price: Price
    window: int  # tokens; 0: not known
    tokenizer: Tokenizer
    provider: str = ""
    calls_functions: bool = False
    max_completion_tokens: bool = False
    counts_cache_reads: bool = False
