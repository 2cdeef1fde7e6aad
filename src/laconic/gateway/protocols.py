"""Which models have function calling: declared in settings, or learned from a refusal and forgotten in time."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Final

LEARNED_FOR: Final = 24 * 3600.0  # seconds; servers get updated


class Protocols:
    """Remembers by provider and model."""

    def __init__(self, native: tuple[str, ...], prompted: tuple[str, ...], clock: Callable[[], float]) -> None:
        self._native = native
        self._prompted = prompted
        self._clock = clock
        self._learned: dict[tuple[str, str], float] = {}

    def prompted(self, upstream: str, model: str) -> bool:
        """Whether calls have to be written as text for this model."""
        if self._declared(self._native, upstream, model):
            return False
        until = self._learned.get((upstream, model), 0.0)
        return until > self._clock() or self._declared(self._prompted, upstream, model)

    def refused(self, upstream: str, model: str) -> bool:
        """The provider says that this model has no tools; whether we may write them as text from now on."""
        if self._declared(self._native, upstream, model):
            return False
        self._learned[upstream, model] = self._clock() + LEARNED_FOR
        return True

    @staticmethod
    def _declared(patterns: tuple[str, ...], upstream: str, model: str) -> bool:
        """A pattern names a model, or an upstream and a model: `gemma*`, `ollama/phi*`."""
        return any(fnmatchcase(model, pattern) or fnmatchcase(f"{upstream}/{model}", pattern) for pattern in patterns)
