"""OpenAI's Responses API: one item per block; reasoning stands directly before what it led to."""

from __future__ import annotations

from laconic.wire.providers.openai_responses.format import FORMAT

__all__ = ["FORMAT"]
