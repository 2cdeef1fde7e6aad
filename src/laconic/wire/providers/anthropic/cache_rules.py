"""How Anthropic caches prompts: only what a request marks, and writing costs more than sending."""

from __future__ import annotations

from typing import Final

from laconic.wire.cache_rules import CacheRules

CACHE_RULES: Final = CacheRules(smallest=1024, write=1.25, hour=2.0, marks=4)
