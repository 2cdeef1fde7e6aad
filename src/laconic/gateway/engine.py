"""What the gateway asks of the conversation engine, and the engine that changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from laconic.wire.conversation import Conversation
from laconic.wire.limits import Limits
from laconic.wire.usage import Usage


class Prepared(msgspec.Struct, frozen=True):
    """A request as it goes to the provider, and what is said about it in `x-laconic-*` headers."""

    body: bytes
    notes: Mapping[str, str] = {}


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
