"""OpenAI's chat completions, and every server that speaks them: calls beside the content, one message per result."""

from __future__ import annotations

from laconic.wire.providers.openai_chat.format import FORMAT

__all__ = ["FORMAT"]
