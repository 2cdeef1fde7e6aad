"""Exact counting with the vocabularies inside the splintr wheel. Knows no model names."""

from __future__ import annotations

from typing import Final, Protocol

ENCODINGS: Final[tuple[str, ...]] = (
    "o200k_base",
    "cl100k_base",
    "llama3",
    "qwen3",
    "deepseek_v3",
    "mistral_v3",
    "glm4",
    "gemma3",
)


class Encoder(Protocol):
    """What we need of a tokenizer."""

    def encode_ordinary(self, text: str) -> list[int]: ...


def load(encoding: str) -> Encoder | None:
    """The encoder, or None where the wheel is missing or does not hold this vocabulary."""
    try:
        import splintr  # 40 ms and 40 MB with a vocabulary: only when something is counted
    except ImportError:
        return None
    try:
        encoder: Encoder = splintr.Tokenizer.from_pretrained(encoding)
    except ValueError:
        return None
    return encoder
