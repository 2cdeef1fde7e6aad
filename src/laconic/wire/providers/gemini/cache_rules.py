"""How Gemini caches prompts: every prefix, without marks."""

from __future__ import annotations

from typing import Final

from laconic.wire.cache_rules import CacheRules

CACHE_RULES: Final = CacheRules(smallest=2048)
