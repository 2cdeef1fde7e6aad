"""What the gateway asks of an engine; the one that keeps conversations small, and the one that changes nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from laconic.context.engine import Engine as ContextEngine
from laconic.context.engine import Prepared as Kept
from laconic.context.options import Bounds
from laconic.context.windows import window_of
from laconic.wire.conversation import Conversation
from laconic.wire.limits import Limits
from laconic.wire.refusals import TooLong
from laconic.wire.usage import Usage

_SESSIONS: Final = 1000
_ENOUGH: Final = 1000  # tokens from which counts are compared
_MOST: Final = 2.0  # a larger difference is no matter of tokenizers


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
    wishes: str = ""  # betas that the client asks the provider for


class Engine(Protocol):
    """Keeps conversations small. Called from one thread at a time."""

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        """The request to send instead."""

    def answered(self, caller: Caller, usage: Usage | None, limits: Limits | None) -> None:
        """What the provider said about an answer."""

    def overflowed(self, caller: Caller, said: TooLong) -> None:
        """The provider said that the last request was too long."""


class Unchanged:
    """Sends everything as it came."""

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        return Prepared(conversation.body)

    def answered(self, caller: Caller, usage: Usage | None, limits: Limits | None) -> None:
        return None

    def overflowed(self, caller: Caller, said: TooLong) -> None:
        return None


class Keeping:
    """The conversation engine, asked on behalf of clients."""

    def __init__(self, engine: ContextEngine, window: int = 0) -> None:
        self._engine = engine
        self._window = window  # tokens that the models take; 0: by the model
        self._learned: dict[str, int] = {}  # windows that providers spoke of
        self._sent: OrderedDict[str, int] = OrderedDict()  # tokens of each session's last request, as we count
        self._larger: dict[str, float] = {}  # by how much a provider's count is larger than ours

    def prepare(self, caller: Caller, conversation: Conversation) -> Prepared:
        quota = _quota(caller)
        window = self._window or self._learned.get(quota) or window_of(caller.model, caller.wishes)
        bounds = Bounds(round(window / self._larger.get(quota, 1.0)), quota)
        made = self._engine.prepare(caller.session, conversation.format, conversation.body, bounds)
        self._sent[caller.session] = made.tokens
        if len(self._sent) > _SESSIONS:
            self._sent.popitem(last=False)
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
        if usage is not None:
            self._compare(caller, usage.prompt)

    def overflowed(self, caller: Caller, said: TooLong) -> None:
        self._learned[_quota(caller)] = said.most
        self._compare(caller, said.sent)

    def _compare(self, caller: Caller, prompt: int) -> None:
        """Tokenizers differ: how a provider's count of the last request compares with ours."""
        ours = self._sent.get(caller.session, 0)
        if ours >= _ENOUGH and 0 < prompt <= _MOST * ours:
            self._larger[_quota(caller)] = max(1.0, prompt / ours)


def _quota(caller: Caller) -> str:
    """Limits hold for a key and a model."""
    return f"{caller.account}/{caller.model}"
