"""The engine's settings, gathered in one record, and what is known about the request's limits."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from laconic.conversation.cache_economics import CacheWeights
from laconic.conversation.lifetimes import Lifetimes
from laconic.conversation.provider_settings import read_numbers


class EngineOptions(msgspec.Struct, frozen=True):
    """What the engine may do."""

    enabled: bool = True
    rules: Lifetimes = Lifetimes()
    weights: CacheWeights = CacheWeights()
    economic: bool = True  # leave out what is no longer of use whenever that pays
    semantic: int = 50_000  # tokens from which a completed task gives its outputs back
    standard: int = 200_000  # tokens above which the history is made smaller whatever it costs
    low_water: float = 0.35  # of a threshold: where to land after an event
    high_water: float = 1.0  # of the model's window, less an answer
    least_turns: str = "1"  # turns between two events, by provider
    protected_turns: str = ""  # newest turns that stay, by provider; empty: as the rules say
    quota: str = ""  # tokens per minute by provider, where answers do not say
    thinking_half: str = "400000"  # tokens left of a quota, below which thinking is halved; by provider
    thinking_low: str = "200000"  # and below which it is kept small
    task_tool: str = ""  # one more tool that keeps tasks
    task_tools: tuple[str, ...] = ()  # by which clients keep theirs
    repair: bool = True  # send in its old form what a client wrote in another one
    meta: bool = False  # tell the model at the end of a request how full its context is
    live_sessions: int = 8  # whose derived state is kept; the others are read again when they return

    @property
    def all_task_tools(self) -> tuple[str, ...]:
        return (*self.task_tools, self.task_tool)


class RequestLimits(msgspec.Struct, frozen=True):
    """What limits one request."""

    window: int = 0  # tokens that the model takes; 0: not known
    account: str = ""  # provider, key and model: whose quota it is
    provider: str = ""  # its name in settings; empty: whose format it is
    compacts_at: int = 0  # tokens at which the client compacts its history by itself; 0: not known


def options_from(settings: Mapping[str, str | int | float | bool]) -> EngineOptions:
    """The options that the settings table names `context.*`. Numbers by provider are checked here."""
    for name in ("least_turns", "protected_turns", "quota", "thinking_half", "thinking_low"):
        read_numbers(f"context.{name}", str(settings.get(f"context.{name}", "")))
    named = {}
    for name in EngineOptions.__struct_fields__:
        if f"context.{name}" in settings:
            named[name] = settings[f"context.{name}"]
    if not named.get("live_sessions"):
        named.pop("live_sessions", None)  # as many as one user has
    return msgspec.convert(named, EngineOptions)
