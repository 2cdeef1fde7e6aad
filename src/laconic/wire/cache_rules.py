"""How a provider caches prompts: a record, which the provider's file fills in. What a model costs is in `models`."""

from __future__ import annotations

from typing import Final

import msgspec

FIVE_MINUTES: Final = 300.0
HOUR: Final = 3600.0
LOOKBACK: Final = 20  # blocks before a mark in which a provider looks for an earlier entry


class CacheRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one provider's prompt cache. Prices are relative to a plain input token."""

    smallest: int  # tokens from which a prefix is cached
    read: float = 0.1
    write: float = 1.0
    hour: float = 1.0
    marks: int = 0  # that a request may set; 0: everything is cached without any
    lookback: int = LOOKBACK
    step: int = 1  # tokens by which the prefix that is read grows
    lifetime: float = FIVE_MINUTES  # seconds, of what is cached without a mark
