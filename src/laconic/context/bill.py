"""What a session has cost, and what it would have cost with its history as it came and without our own additions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from laconic.context.economy import Price
from laconic.wire.usage import Usage

_LONG: Final = 2.0  # what a token costs that the cache keeps for an hour, in plain ones


@dataclass(slots=True)
class Bill:
    """Sums over the answers of one session. What would have been is reckoned with the same cache, always warm.

    Money is for prompts. Answers cost the same with us and without, but for those that went on from a recall: they
    are taken off what it would have cost, so that the difference is what was really saved.
    """

    tokens: int = 0  # prompt tokens as the provider counted them
    tokens_without: float = 0.0
    dollars: float = 0.0
    dollars_without: float = 0.0
    _last: float = 0.0

    def add(self, usage: Usage, came: int, went: int, price: Price, *, recall: bool = False) -> None:
        """One answer. The history as it came, less what is ours, has as many more tokens as it has more bytes.

        `recall`: the request only brought back what had been left out, and would not have been made without us.
        """
        writing = price.write * (usage.cache_write - usage.long) + _LONG * usage.long
        spent = usage.input + price.read * usage.cache_read + writing
        self.tokens += usage.prompt
        self.dollars += spent * price.dollars / 1e6
        if recall:
            self.dollars_without -= price.output * usage.output * price.dollars / 1e6
            return
        whole = usage.prompt * came / went if went else float(usage.prompt)
        kept = min(self._last, whole) if usage.cache_read or usage.cache_write else 0.0
        write = writing / usage.cache_write if usage.cache_write else 1.0
        self.tokens_without += whole
        self.dollars_without += (price.read * kept + write * (whole - kept)) * price.dollars / 1e6
        self._last = whole
