"""What the gateway asks of an engine; the one that keeps conversations small, and the one that changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from laconic.context.engine import Engine as ContextEngine
from laconic.context.engine import Prepared as Kept
from laconic.context.options import Bounds
from laconic.wire.conversation import Conversation
from laconic.wire.limits import Limits
from laconic.wire.usage import Usage


class Prepared(msgspec.Struct, frozen=True):
    """A request as it goes to the provider, and what is said about it in `x-laconic-*` headers."""

    body: bytes
    notes: Mapping[str, str] = {}
    kept: Kept | None = None  # what was done to it, in full


class Caller(msgspec.Struct, frozen=True):
    """Whose request it is: never a key, only hashes of it."""

    session: str
    account: str  # provider and key
    model: str


class Engine(Protocol):
    """Keeps conversations small. Called from one thread at a time."""

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        """The request to send instead."""

    def answered(self, caller: Caller, usage: Usage | None, limits: Limits | None) -> None:
        """What the provider said about an answer."""


class Unchanged:
    """Sends everything as it came."""

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        return Prepared(conversation.body)

    def answered(self, caller: Caller, usage: Usage | None, limits: Limits | None) -> None:
        return None


class Keeping:
    """The conversation engine, asked on behalf of clients."""

    def __init__(self, engine: ContextEngine, window: int = 0) -> None:
        self._engine = engine
        self._window = window  # tokens that the models take; 0: not known

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        bounds = Bounds(self._window, _quota(caller))
        made = self._engine.prepare(caller.session, conversation.format, conversation.body, bounds)
        notes = {"action": made.mode or ("reduced" if made.body != conversation.body else "kept")}
        if made.rung:
            notes["rung"] = made.rung
        if made.tokens:
            notes |= {"tokens": str(made.tokens), "saved": str(made.saved)}
        if made.thinking:
            notes["thinking"] = str(made.thinking)
        return Prepared(made.body, notes, made)

    def answered(self, caller: Caller, usage: Usage | None, limits: Limits | None) -> None:
        self._engine.observe(_quota(caller), usage, limits)


def _quota(caller: Caller) -> str:
    """Limits hold for a key and a model."""
    return f"{caller.account}/{caller.model}"
