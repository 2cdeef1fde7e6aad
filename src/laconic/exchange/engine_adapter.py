"""An engine as an exchange asks it: the one that keeps conversations small, and the one that changes nothing."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from laconic.clients.registry import compaction_limit
from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import RequestLimits
from laconic.exchange.caller import Caller
from laconic.models.find_model import window_of
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.prompted_tool_calls.capability import CapabilityMemory, ProcessMemory
from laconic.wire.rate_limits import RateLimits
from laconic.wire.refusals import PromptTooLong
from laconic.wire.usage import Usage

_SESSIONS: Final = 1000
_ENOUGH: Final = 1000  # tokens from which counts are compared
_MOST: Final = 2.0  # a larger difference is no matter of tokenizers
_NOTICED: Final = 0.03  # a smaller difference is not written down
_BELIEVED: Final = 6 * 3600.0  # seconds that a window counts that a provider spoke of: models and plans change
_REMEMBERED: Final = 30 * 86_400.0  # seconds that a comparison of counts does


class RequestEngine(Protocol):
    """Keeps conversations small. Called from one thread at a time."""

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        """The request to send instead."""

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        """What the provider said about an answer."""

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        """The provider said that the last request was too long."""

    def learn_window(self, caller: Caller, tokens: int) -> None:
        """The server says how many tokens it takes."""


class PassThroughEngine:
    """Sends everything as it came."""

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        return PreparedRequest(conversation.body)

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        return None

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        return None

    def learn_window(self, caller: Caller, tokens: int) -> None:
        return None


class EngineAdapter:
    """Conversation engines, asked on behalf of clients: each model's conversations are counted by its own tokenizer."""

    def __init__(
        self,
        engine_for: Callable[[str], ConversationEngine],
        window: int = 0,
        *,
        reserve: float = 0.0,
        clock: Callable[[], float] = time.time,
        memory: CapabilityMemory | None = None,
    ) -> None:
        self._engine_for = engine_for  # by the name of a model
        self._window = window  # tokens that the models take; 0: by the model
        self._reserve = reserve  # share of it that is left for what nobody counts
        self._clock = clock
        self._memory = memory or ProcessMemory()
        self._sent: OrderedDict[str, int] = (
            OrderedDict()
        )  # tokens of a session's request that is not answered yet, as we count

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        window, ratio = self.window(caller), self._ratio(caller)
        bounds = RequestLimits(
            window=round(window * (1.0 - self._reserve) / ratio),
            account=_quota(caller),
            provider=caller.upstream,
            compacts_at=round(compaction_limit(caller.client, caller.model, window, caller.wishes) / ratio),
        )
        made = self._engine_for(caller.model).prepare(caller.session, conversation, bounds)
        self._sent[caller.session] = made.tokens
        if len(self._sent) > _SESSIONS:
            self._sent.popitem(last=False)
        return made

    def window(self, caller: Caller) -> int:
        """Tokens that the model takes: what the provider spoke of, what was set, what its name says; 0: not known."""
        learned = self._learned(caller)
        if self._window and learned:
            return min(self._window, learned)
        return self._window or learned or window_of(caller.model, caller.wishes)

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        self._engine_for(caller.model).observe(_quota(caller), usage, limits, session=caller.session)
        ours = self._sent.pop(caller.session, 0)  # what is asked further within the same answer is longer
        if usage is None:
            return
        self._compare(caller, ours, usage.prompt)
        if usage.prompt > self._learned(caller) > 0:
            self._memory.keep(_named("window", caller), "0", 0.0)  # it takes more than was said

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        """Believed for some hours, of what the client asked for then, if the request was of about that size."""
        ours = self._sent.get(caller.session, 0)
        if ours and said.most > _MOST * ours:
            return
        self._memory.keep(_named("window", caller), str(said.most), self._clock() + _BELIEVED)
        self._compare(caller, ours, said.sent or said.most + 1)

    def learn_window(self, caller: Caller, tokens: int) -> None:
        self._memory.keep(_named("window", caller), str(tokens), self._clock() + _BELIEVED)

    def _learned(self, caller: Caller) -> int:
        """The window that the provider spoke of; 0: it did not, or long ago."""
        said = self._memory.recall(_named("window", caller))
        if said is not None and said[1] > self._clock():
            return int(said[0])
        return 0

    def _ratio(self, caller: Caller) -> float:
        """How a provider's count of tokens compares with ours: tokenizers differ."""
        said = self._memory.recall(_named("ratio", caller))
        if said is not None and said[1] > self._clock():
            return float(said[0])
        return 1.0

    def _compare(self, caller: Caller, ours: int, prompt: int) -> None:
        if ours < _ENOUGH or not ours / _MOST <= prompt <= _MOST * ours:
            return
        ratio = prompt / ours
        if abs(ratio - self._ratio(caller)) > _NOTICED:
            self._memory.keep(_named("ratio", caller), f"{ratio:.3f}", self._clock() + _REMEMBERED)


def single_engine(engine: ConversationEngine) -> Callable[[str], ConversationEngine]:
    """The same engine for all models."""
    return lambda model: engine


def _named(what: str, caller: Caller) -> str:
    """What was learned holds for a key, a model, and what was asked for with it."""
    return f"{what} {_quota(caller)} {','.join(sorted(filter(None, caller.wishes.split(','))))}".strip()


def _quota(caller: Caller) -> str:
    """Limits hold for a key and a model."""
    return f"{caller.account}/{caller.model}"
