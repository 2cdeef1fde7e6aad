"""Which models have function calling: declared in settings, learned from what they did and forgotten in time, or
known of their family.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Final, Protocol

from laconic.models.find_model import find_model

LEARNED_FOR: Final = 24 * 3600.0  # seconds; servers get updated


class CapabilityMemory(Protocol):
    """Where it is kept what was learned: until when a model counts as native or as prompted."""

    def recall(self, model: str) -> tuple[str, float] | None: ...

    def keep(self, model: str, protocol: str, until: float) -> None: ...


class ProcessMemory:
    """Forgets when the process ends."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, float]] = {}

    def recall(self, model: str) -> tuple[str, float] | None:
        return self._kept.get(model)

    def keep(self, model: str, protocol: str, until: float) -> None:
        self._kept[model] = (protocol, until)


class PromptedModels:
    """Remembers by provider and model."""

    def __init__(
        self,
        native: tuple[str, ...],
        prompted: tuple[str, ...],
        clock: Callable[[], float],
        memory: CapabilityMemory | None = None,
    ) -> None:
        self._native = native
        self._prompted = prompted
        self._clock = clock
        self._memory = memory or ProcessMemory()

    def known_mode(self, upstream: str, model: str, base: str = "") -> str:
        """`native`, `prompted`, or nothing when that is neither declared nor learned."""
        if self._is_declared(self._native, upstream, model):
            return "native"
        if self._is_declared(self._prompted, upstream, model):
            return "prompted"
        learned = self._memory.recall(_learned_of(upstream, model, base))
        if learned is not None and learned[1] > self._clock():
            return learned[0]
        if find_model(model).calls_functions:
            return "native"
        return ""

    def note_refusal(self, upstream: str, model: str, base: str = "", *, learns: bool = True) -> bool:
        """The provider says that this model has no tools; whether we may write them as text, now or from now on."""
        if self._is_declared(self._native, upstream, model):
            return False
        if learns:
            self.learn(upstream, model, "prompted", base)
        return True

    def learn(self, upstream: str, model: str, protocol: str, base: str = "") -> None:
        """What a model showed that it can do."""
        self._memory.keep(_learned_of(upstream, model, base), protocol, self._clock() + LEARNED_FOR)

    @staticmethod
    def _is_declared(patterns: tuple[str, ...], upstream: str, model: str) -> bool:
        """A pattern names a model, or an upstream and a model: `gemma*`, `ollama/phi*`."""
        return any(fnmatchcase(model, pattern) or fnmatchcase(f"{upstream}/{model}", pattern) for pattern in patterns)


def _learned_of(upstream: str, model: str, base: str) -> str:
    """The same name of a model may be another one at another address."""
    return f"{upstream}/{model} {base}".strip()
