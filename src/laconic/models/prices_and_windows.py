"""The table of models: list prices, rules of the cache, windows, tokenizers, and whether they call functions.

Dollars per million tokens, and windows, read on 2026-11-16 from the tables that two packages carry, genai-prices 0.2.1
and litellm 1.108.4. Most rows are in both, some (older models, and variants) in one; a model on whose price the two
disagree has none. Where a price depends on the time of day the lower one is here. Prices of batch, flex and priority
requests are not. Where a family's windows differ, the larger one is here: a request that is cut too late fails at the
provider, which then says what it takes; one that is cut too early loses.
"""

from __future__ import annotations

from typing import Final

import msgspec

from laconic.models.model import Model, ModelFamily, Price, Tokenizer

_MILLION: Final = 1_000_000
_GPT_5: Final = 400_000  # 272,000 of them for the prompt
_GPT_LONG: Final = 1_050_000
_O200K: Final = Tokenizer("o200k_base")
_MISTRAL: Final = Tokenizer("mistral_v3")
_GLM: Final = Tokenizer("glm4")
_DEEPSEEK: Final = Tokenizer("deepseek_v3")


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


def _weights(read: float = 0.1, smallest: int = 1024) -> Price:
    """The cache of a model whose weights are published, and whose price is not known."""
    return Price(read=read, write=1.0, lifetime=3600, smallest=smallest, hour=1.0, weights=True)


def _gpt(names: tuple[str, ...], price: Price | None, window: int) -> Model:
    return Model(names, price, window, max_completion_tokens=True)


CURRENT: Final = "claude-sonnet-5-5"  # the model that is assumed where nobody names one
UNKNOWN: Final = Price(read=0.1, write=1.25, lifetime=300, smallest=1024)
UNKNOWN_TOKENIZER: Final = Tokenizer("o200k_base", exact=False)

_CLAUDE: Final = ModelFamily(
    starts="claude",
    tokenizer=Tokenizer("o200k_base", 1.18, exact=False),
    unpriced=UNKNOWN,
    window=_MILLION,
    provider="anthropic",
    calls_functions=True,
    models=(
        Model(("claude-fable-5",), _claude(10, 50)),
        Model(("claude-fable-5-1",), _claude(10, 50, 0.25)),
        Model(("claude-opus-5-5",), _claude(4, 20, 0.2)),
        Model(("claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6"), _claude(5, 25)),
        Model(("claude-opus-4-5",), _claude(5, 25), 200_000),
        Model(("claude-opus-4-1", "claude-opus-4-0", "claude-opus-4"), _claude(15, 75), 200_000),
        Model(("claude-3-opus",), _claude(15, 75), 200_000, counts_cache_reads=True),
        Model(("claude-sonnet-5-5",), _claude(2, 10, 0.1)),
        Model(("claude-sonnet-5",), _claude(2, 10)),
        Model(("claude-sonnet-4-6",), _claude(3, 15)),
        Model(("claude-sonnet-4-5", "claude-sonnet-4-0", "claude-sonnet-4"), _claude(3, 15), 200_000),
        Model(("claude-3-7-sonnet",), _claude(3, 15), 200_000),
        Model(("claude-3-5-sonnet", "claude-3-sonnet"), _claude(3, 15), 200_000, counts_cache_reads=True),
        Model(
            ("claude-haiku-5-5",),
            msgspec.structs.replace(
                _claude(0.1, 0.5, smallest=2048), above=100_000, above_input=5.0, above_output=5.0
            ),
        ),
        Model(("claude-haiku-4-5",), _claude(1, 5, smallest=2048), 200_000),
        Model(("claude-3-5-haiku",), _claude(0.8, 4, smallest=2048), 200_000, counts_cache_reads=True),
        Model(
            ("claude-instant", "claude-1", "claude-1-3", "claude-2", "claude-2-1", "claude-3"),
            None,
            200_000,
            counts_cache_reads=True,
        ),
    ),
)

_GPT: Final = ModelFamily(
    starts="gpt|chatgpt|codex|o200k",
    tokenizer=_O200K,
    unpriced=Price(read=0.1, write=1.0, lifetime=600, smallest=1024, output=8.0, hour=1.0),
    provider="openai",
    calls_functions=True,
    models=(
        _gpt(("gpt-6-astra",), _openai(10, 50, 1, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-6-1-sol",), _openai(2, 10, 0.1, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-6-1-terra",), _openai(1, 5, 0.05, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-6-sol",), _openai(2, 10, 0.2, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-6-luna",), _openai(0.1, 0.5, 0.01, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-5-6", "gpt-5-6-sol"), _openai(4, 20, 0.4, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-5-6-terra",), _openai(2, 12, 0.2, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-5-6-luna",), _openai(0.2, 1.2, 0.02, write=1.25, tier=True), _GPT_LONG),
        _gpt(("gpt-5-5",), _openai(5, 30, 0.5, tier=True), _GPT_LONG),
        _gpt(("gpt-5-5-pro", "gpt-5-4-pro"), _openai(30, 180, tier=True), _GPT_LONG),
        _gpt(("gpt-5-4",), _openai(2.5, 15, 0.25, tier=True), _GPT_LONG),
        _gpt(("gpt-5-4-mini",), _openai(0.75, 4.5, 0.075), _GPT_5),
        _gpt(("gpt-5-4-nano",), _openai(0.2, 1.25, 0.02), _GPT_5),
        _gpt(("gpt-5-3-codex", "gpt-5-2", "gpt-5-2-codex"), _openai(1.75, 14, 0.175), _GPT_5),
        _gpt(("gpt-5-2-chat",), _openai(1.75, 14, 0.175), 128_000),
        _gpt(("gpt-5-3-chat",), None, 128_000),
        _gpt(("gpt-5-2-pro",), _openai(21, 168), _GPT_5),
        _gpt(
            ("gpt-5", "gpt-5-codex", "gpt-5-1", "gpt-5-1-codex", "gpt-5-1-codex-max"),
            _openai(1.25, 10, 0.125),
            _GPT_5,
        ),
        _gpt(("gpt-5-chat", "gpt-5-1-chat"), _openai(1.25, 10, 0.125), 128_000),
        _gpt(("gpt-5-mini", "gpt-5-1-codex-mini"), _openai(0.25, 2, 0.025), _GPT_5),
        _gpt(("gpt-5-nano",), _openai(0.05, 0.4, 0.005), _GPT_5),
        _gpt(("gpt-5-pro",), _openai(15, 120), _GPT_5),
        Model(("codex-mini",), _openai(1.5, 6, 0.375), 200_000),
        Model(("gpt-4-1",), _openai(2, 8, 0.5), 1_047_576),
        Model(("gpt-4-1-mini",), _openai(0.4, 1.6, 0.1), 1_047_576),
        Model(("gpt-4-1-nano",), _openai(0.1, 0.4, 0.025), 1_047_576),
        Model(("gpt-4o",), _openai(2.5, 10, 1.25), 128_000),
        Model(("gpt-4o-2024-05-13",), _openai(5, 15), 128_000),
        Model(("gpt-4o-mini",), _openai(0.15, 0.6, 0.075), 128_000),
        Model(("gpt-4-5",), None, 128_000),
    ),
)

_OLD_GPT: Final = ModelFamily(
    starts=r"gpt-3-5|gpt-4(?!o|-1(?!\d)|-5)|text-embedding|cl100k",
    tokenizer=Tokenizer("cl100k_base"),
    unpriced=_GPT.unpriced,
    provider="openai",
    calls_functions=True,
    models=(
        Model(("gpt-4-turbo", "gpt-4-1106", "gpt-4-0125"), None, 128_000),
        Model(("gpt-4",), None, 8_192),
        Model(("gpt-3-5",), None, 16_385),
    ),
)

_GPT_OSS: Final = ModelFamily(
    starts="gpt-oss",
    tokenizer=_O200K,
    unpriced=_weights(),
    calls_functions=True,
    models=(Model(("gpt-oss",), None, 131_072),),
)

_O_SERIES: Final = ModelFamily(
    starts="o[1-9](?![a-z0-9])",
    tokenizer=_O200K,
    unpriced=Price(read=0.25, write=1.0, lifetime=600, smallest=1024, hour=1.0),
    provider="openai",
    calls_functions=True,
    models=(
        _gpt(("o1",), _openai(15, 60, 7.5), 200_000),
        _gpt(("o1-preview",), _openai(15, 60, 7.5), 128_000),
        _gpt(("o1-mini",), None, 128_000),
        _gpt(("o3",), _openai(2, 8, 0.5), 200_000),
        _gpt(("o3-pro",), _openai(20, 80), 200_000),
        _gpt(("o3-mini",), _openai(1.1, 4.4, 0.55), 200_000),
        _gpt(("o4-mini",), _openai(1.1, 4.4, 0.275), 200_000),
        _gpt(("o4",), None, 200_000),
    ),
)

_GEMINI: Final = ModelFamily(
    starts="gemini",
    tokenizer=Tokenizer("gemma3", exact=False),
    unpriced=Price(read=0.1, write=1.0, lifetime=300, smallest=2048, output=8.0, hour=1.0),
    window=1_048_576,
    provider="gemini",
    calls_functions=True,
    models=(
        Model(("gemini-4-argon",), _gemini(2, 10, 0.1)),
        Model(("gemini-3-8-flash", "gemini-3-7-flash", "gemini-3-6-flash"), _gemini(0.75, 3.75, 0.075)),
        Model(("gemini-3-5-flash",), _gemini(1.5, 9, 0.15)),
        Model(("gemini-3-5-flash-lite",), _gemini(0.3, 2.5, 0.03)),
        Model(("gemini-3-1-pro", "gemini-3-pro"), _gemini(2, 12, 0.2, tier=True)),
        Model(("gemini-3-1-flash-lite",), _gemini(0.25, 1.5, 0.025)),
        Model(("gemini-3-flash",), _gemini(0.5, 3, 0.05)),
        Model(("gemini-2-5-pro",), _gemini(1.25, 10, 0.125, tier=True)),
        Model(("gemini-2-5-flash",), _gemini(0.3, 2.5, 0.03)),
        Model(("gemini-2-5-flash-lite",), _gemini(0.1, 0.4, 0.01)),
        Model(("gemini-1-5-pro",), None, 2_097_152),
    ),
)

_GEMMA: Final = ModelFamily(
    starts="gemma",
    tokenizer=Tokenizer("gemma3"),
    unpriced=UNKNOWN,
    models=(
        Model(("gemma-2", "gemma2"), None, 8_192),
        Model(("gemma-3", "gemma3"), None, 131_072),
        Model(("gemma-4", "gemma4"), None, 262_144),
    ),
)

_GROK: Final = ModelFamily(
    starts="grok",
    tokenizer=UNKNOWN_TOKENIZER,
    unpriced=Price(read=0.25, write=1.0, lifetime=600, smallest=1024, hour=1.0),
    calls_functions=True,
    models=(
        Model(("grok-4-7", "grok-4-6"), _grok(2, 6, 0.5), 500_000),
        Model(("grok-4-5",), _grok(2, 6, 0.3), 500_000),
        Model(
            ("grok-4-3", "grok-4-20", "grok-4-20-reasoning", "grok-4-20-non-reasoning"),
            _grok(1.25, 2.5, 0.2),
            _MILLION,
        ),
        Model(("grok-4-fast", "grok-4-1-fast"), None, 2_000_000),
        Model(("grok-4", "grok-code-fast", "grok-code-fast-1"), None, 262_144),
        Model(("grok-3",), None, 131_072),
    ),
)

_LLAMA: Final = ModelFamily(
    starts="llama|codellama|deepseek-r1-distill-llama",
    tokenizer=Tokenizer("llama3"),
    unpriced=UNKNOWN,
    models=(Model(("llama-3-1", "llama3-1", "llama-3-3", "llama3-3"), None, 131_072),),
)

_QWEN: Final = ModelFamily(
    starts="qwen|qwq|deepseek-r1-distill-qwen",
    tokenizer=Tokenizer("qwen3"),
    unpriced=UNKNOWN,
    models=(Model(("qwen3-coder",), None, 1_048_576),),
)

_DEEPSEEK_NEW: Final = ModelFamily(
    starts="deepseek-(?:chat|flash|v)",
    tokenizer=_DEEPSEEK,
    unpriced=_weights(smallest=64),
    calls_functions=True,
    models=(
        # Both cost twice as much in the peak hours.
        Model(("deepseek-v4-pro",), _open(0.66, 1.98, 0.022, 64), _MILLION),
        Model(("deepseek-v4-flash", "deepseek-flash"), _open(0.15, 0.6, 0.003, 64), _MILLION),
        Model(("deepseek-v3", "deepseek-v3-1", "deepseek-v3-2"), None, 163_840),
    ),
)

_DEEPSEEK_OLD: Final = ModelFamily(
    starts="deepseek",
    tokenizer=_DEEPSEEK,
    unpriced=_weights(smallest=64),
    models=(Model(("deepseek-r1",), None, 163_840),),
)

_KIMI: Final = ModelFamily(
    starts="kimi",
    tokenizer=UNKNOWN_TOKENIZER,
    unpriced=_weights(read=0.25),
    calls_functions=True,
    models=(
        Model(("kimi-k3",), _open(3, 15, 0.3), 1_048_576),
        Model(("kimi-k2-7-code",), _open(0.95, 4, 0.19), 262_144),
        Model(("kimi-k2-6",), _open(0.95, 4, 0.16), 262_144),
        Model(("kimi-k2-5",), _open(0.6, 3, 0.1), 262_144),
        Model(("kimi-k2",), None, 262_144),
    ),
)

_GLM_NEW: Final = ModelFamily(
    starts="(?:zai-)?glm-[4-9]",
    tokenizer=_GLM,
    unpriced=_weights(read=0.2),
    calls_functions=True,
    models=(
        Model(("glm-5-3", "glm-5-2"), _open(1.4, 4.4, 0.26), 1_048_576),
        Model(("glm-5-1",), _open(1.4, 4.4, 0.26), 200_000),
        Model(("glm-5-3-flash",), _open(0.15, 0.5, 0.03), 1_048_576),
        Model(("glm-5",), _open(1, 3.2, 0.2), 200_000),
        Model(("glm-4-7", "glm-4-6"), _open(0.6, 2.2, 0.11), 204_800),
        Model(("glm-4-5",), _open(0.6, 2.2, 0.11), 131_072),
        Model(("glm-4-5-air",), _open(0.2, 1.1, 0.03), 131_072),
    ),
)

_GLM_OLD: Final = ModelFamily(starts="glm|zai", tokenizer=_GLM, unpriced=_weights(read=0.2))

_MISTRAL_API: Final = ModelFamily(
    starts="mistral-|codestral|devstral",
    tokenizer=_MISTRAL,
    unpriced=UNKNOWN,
    calls_functions=True,
    models=(
        Model(("mistral-medium-latest", "mistral-medium-3-5"), _open(1.5, 7.5, 0.15), 262_144),
        Model(("mistral-medium", "mistral-medium-3"), None, 262_144),
        Model(("mistral-large-2512",), _open(0.5, 1.5, 0.05), 262_144),
        Model(("mistral-large", "mistral-large-3"), None, 262_144),
        Model(("mistral-large-4",), None, 1_048_576),
        Model(("codestral-2508",), _open(0.3, 0.9, 0.03), 262_144),
        Model(("codestral",), None, 262_144),
        Model(("devstral-2512",), _open(0.4, 2, 0.04), 262_144),
        Model(("devstral",), None, 262_144),
    ),
)

_MISTRAL_OPEN: Final = ModelFamily(starts="mistral|mixtral|magistral|ministral", tokenizer=_MISTRAL, unpriced=UNKNOWN)

# Of two families whose names begin alike the narrower one is first.
FAMILIES: Final[tuple[ModelFamily, ...]] = (
    _CLAUDE,
    _GPT_OSS,
    _OLD_GPT,
    _GPT,
    _O_SERIES,
    _GEMINI,
    _GEMMA,
    _GROK,
    _LLAMA,
    _QWEN,
    _DEEPSEEK_NEW,
    _DEEPSEEK_OLD,
    _KIMI,
    _GLM_NEW,
    _GLM_OLD,
    _MISTRAL_API,
    _MISTRAL_OPEN,
)
