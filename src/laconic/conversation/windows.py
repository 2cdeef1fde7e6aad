"""How many tokens models take, as far as their names say. Where a family differs, the larger number stands here.

A request that is cut too late fails at the provider, which then says what it takes; one that is cut too early loses.
"""

from __future__ import annotations

import re
from typing import Final

# Read in this order: the first prefix that a model's name has (after `provider/`) decides.
WINDOWS: Final[tuple[tuple[str, int], ...]] = (
    ("claude-2", 200_000),
    ("claude-3", 200_000),
    ("claude-haiku-4-5", 200_000),
    ("claude-haiku-4.5", 200_000),
    ("claude-opus-4-2", 200_000),  # by date
    ("claude-opus-4-1", 200_000),
    ("claude-opus-4.1", 200_000),
    ("claude-opus-4-5", 200_000),
    ("claude-opus-4.5", 200_000),
    ("claude-sonnet-4-2", 200_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-sonnet-4.5", 200_000),
    ("claude", 1_000_000),
    ("gpt-3.5", 16_385),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4.5", 128_000),
    ("gpt-4", 8_192),
    ("gpt-oss", 131_072),
    ("gpt-5-chat", 128_000),
    ("gpt-5.4", 1_050_000),
    ("gpt-5.5", 1_050_000),
    ("gpt-5", 400_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("codex-mini", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini", 1_048_576),
    ("gemma-2", 8_192),
    ("gemma2", 8_192),
    ("gemma-3", 131_072),
    ("gemma3", 131_072),
    ("deepseek-r1", 163_840),
    ("deepseek-v3", 163_840),
    ("kimi-k2", 262_144),
    ("glm-4.5", 131_072),
    ("glm-4.6", 204_800),
    ("grok-3", 131_072),
    ("grok-4-fast", 2_000_000),
    ("grok-4.1-fast", 2_000_000),
    ("grok-4", 262_144),
    ("grok-code-fast", 262_144),
    ("mistral-large", 262_144),
    ("mistral-medium", 262_144),
    ("codestral", 262_144),
    ("devstral", 262_144),
    ("qwen3-coder", 1_048_576),
    ("llama-3.1", 131_072),
    ("llama3.1", 131_072),
    ("llama-3.3", 131_072),
    ("llama3.3", 131_072),
)
_LONG: Final = 1_000_000  # what Claude takes when it is asked for a long window
# What may follow the name of a family: versions, dates, sizes, and the words that providers use. Any other word makes
# it somebody's own model, of which nothing is known.
_VARIANT: Final = re.compile(
    r"(?:[-.@_:]?(?:v?\d[\d.]*[bk]?|latest|preview|exp|experimental|mini|nano|micro|small|large|medium|max|plus|pro|ultra"
    r"|flash|lite|fast|turbo|codex|chat|high|low|thinking|reasoning|non-reasoning|instruct|it|free|beta|online|nitro|vision|image"
    r"|audio|realtime|search|deep-research|reasoner|haiku|sonnet|opus|fable|coder|code|base|distill|qwen|llama|gguf|fp8|awq"
    r"|int4|q\d\w*|terminus|speciale|air|omni|multi-agent|cloud))*"
)
_STATED: Final = re.compile(r"-(\d{1,4})([km])$")


def window_of(model: str, wishes: str = "") -> int:
    """Tokens that a model takes; 0 when nobody knows. `wishes`: the betas that a client asks for."""
    name = model.lower().rsplit("/", 1)[-1].partition(":")[0]
    if "[1m]" in name or "context-1m" in wishes:
        return _LONG
    if stated := _STATED.search(name):
        return int(stated[1]) * (1_000_000 if stated[2] == "m" else 1_000)
    for prefix, size in WINDOWS:
        if name.startswith(prefix):
            return size if _VARIANT.fullmatch(name[len(prefix) :]) else 0
    return 0
