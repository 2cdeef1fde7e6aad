"""How many tokens models take, as far as their names say. Where a family differs, the larger number stands here.

A request that is cut too late fails at the provider, which then says what it takes; one that is cut too early loses.
"""

from __future__ import annotations

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
    ("gpt-4-32k", 32_768),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4.5", 128_000),
    ("gpt-4", 8_192),
    ("gpt-oss", 131_072),
    ("gpt-5-chat", 128_000),
    ("gpt-5", 1_050_000),  # of the newest; the first took 400,000
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


def window_of(model: str, wishes: str = "") -> int:
    """Tokens that a model takes; 0 when nobody knows. `wishes`: the betas that a client asks for."""
    name = model.lower().rsplit("/", 1)[-1].partition(":")[0]
    if "[1m]" in name or "context-1m" in wishes:
        return _LONG
    return next((size for prefix, size in WINDOWS if name.startswith(prefix)), 0)
