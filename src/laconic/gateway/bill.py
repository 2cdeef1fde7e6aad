"""What a session has cost, and what it would have cost with its history as it came."""

from __future__ import annotations

from dataclasses import dataclass

from laconic.context.economy import Price
from laconic.wire.usage import Usage


@dataclass(slots=True)
class Bill:
    """Sums over the answers of one session. What would have been is reckoned with the same cache, always warm."""

    tokens: int = 0  # prompt tokens as the provider counted them
    tokens_without: float = 0.0
    dollars: float = 0.0
    dollars_without: float = 0.0
    _last: float = 0.0

    def add(self, usage: Usage, came: int, went: int, price: Price) -> None:
        """One answer. The history as it came is as many tokens larger as it is larger in bytes."""
        whole = usage.prompt * came / went if went else float(usage.prompt)
        kept = min(self._last, whole) if usage.cache_read or usage.cache_write else 0.0
        write = price.write if usage.cache_write else 1.0
        self.tokens += usage.prompt
        self.tokens_without += whole
        spent = usage.input + price.read * usage.cache_read + price.write * usage.cache_write
        self.dollars += spent * price.dollars / 1e6
        self.dollars_without += (price.read * kept + write * (whole - kept)) * price.dollars / 1e6
        self._last = whole
