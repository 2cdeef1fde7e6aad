"""Anthropic's Messages API: content blocks, results inside user messages, thinking before everything."""

from __future__ import annotations

from laconic.wire.providers.anthropic.format import FORMAT

__all__ = ["FORMAT"]
