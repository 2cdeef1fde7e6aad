"""Which encoding counts for which model, and by how much a model without a public vocabulary differs.

A family without a public vocabulary is counted with a public one and a factor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """How the tokens of a family of models are counted."""

    name: str
    encoding: str
    factor: float = 1.0  # real tokens per counted token
    exact: bool = True  # the vocabulary is public, so the count is the provider's own


OPENAI: Final = Family("openai", "o200k_base")
_FAMILIES: Final[tuple[tuple[str, Family], ...]] = (
    (r"gpt-3\.5|gpt-4(?!o|\.1|\.5)|text-embedding|cl100k", Family("openai-cl100k", "cl100k_base")),
    (r"gpt|o[1-9](?:\b|-)|codex|o200k|chatgpt", OPENAI),
    (r"claude", Family("claude", "o200k_base", 1.18, exact=False)),
    (r"gemini", Family("gemini", "gemma3", 1.0, exact=False)),
    (r"gemma", Family("gemma", "gemma3")),
    (r"llama|codellama", Family("llama", "llama3")),
    (r"qwen|qwq", Family("qwen", "qwen3")),
    (r"deepseek", Family("deepseek", "deepseek_v3")),
    (r"mistral|mixtral|codestral|devstral|magistral|ministral", Family("mistral", "mistral_v3")),
    (r"glm|zai", Family("glm", "glm4")),
)


def family(model: str) -> Family:
    """The family of a model name as providers and routers write it: `openrouter/anthropic/claude-x:free`."""
    name = model.lower()
    for pattern, found in _FAMILIES:
        if re.search(rf"(?:^|[/._\-:@ ])(?:{pattern})", name):
            return found
    return Family("unknown", "o200k_base", 1.0, exact=False)
