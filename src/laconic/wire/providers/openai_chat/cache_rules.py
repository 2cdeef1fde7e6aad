"""How OpenAI caches prompts, in both of its formats: every prefix, without marks."""

from __future__ import annotations

from typing import Final

from laconic.wire.cache_rules import CacheRules

CACHE_RULES: Final = CacheRules(smallest=1024, step=128, lifetime=600.0)
