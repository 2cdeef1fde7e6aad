"""Learn how a provider's own count differs from ours, from the usage it reports.

Models without a public vocabulary are counted with another one and a factor. Each real response says how many tokens
the prompt had; the ratio to our count moves the factor, slowly, so that one odd response changes little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

_SMALLEST: Final = 200  # tokens; below that fixed overheads of the provider's format dominate
_WIDEST: Final = (0.5, 2.0)  # a ratio outside is a different prompt (images, hidden text), not a different tokenizer
_MEMORY: Final = 20  # responses after which an early one has lost most of its weight


@dataclass(frozen=True, slots=True)
class Calibration:
    """The learned factor of one model: real tokens per counted token."""

    factor: float = 1.0
    seen: int = 0

    def learn(self, counted: int, reported: int) -> Calibration:
        """This calibration after one more response; zero or senseless reports change nothing."""
        if counted < _SMALLEST or reported <= 0:
            return self
        ratio = reported / counted
        if not _WIDEST[0] <= ratio <= _WIDEST[1]:
            return self
        weight = 1 / min(self.seen + 1, _MEMORY)
        return replace(self, factor=self.factor + (ratio - self.factor) * weight, seen=self.seen + 1)
