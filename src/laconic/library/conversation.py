"""The conversation engine for people who write their own agent: a request in, the request to send out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from laconic.config import load
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import RequestLimits, options_from
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.errors import RecallFailed
from laconic.models.prices_and_windows import CURRENT
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse


class ShortenedRequest(msgspec.Struct, frozen=True):
    """The request to send, and what was done to it."""

    request: dict[str, Any]
    tokens: int  # of the prompt as it is sent, by our count
    saved: int  # tokens that were taken out for this request
    mode: str  # why earlier text was changed; empty: only new text was looked at


class Conversation:
    """One conversation of an agent. What it leaves out stays in this object, for `recall`.

    `format` is `anthropic`, `chat`, `responses` or `gemini`; requests are the provider's JSON as dictionaries. `window`
    is the model's context window, in tokens; 0: unknown. `clock` gives seconds, for the lifetime of the prompt cache.
    """

    def __init__(
        self,
        format: str = "anthropic",
        *,
        model: str = CURRENT,
        window: int = 0,
        settings: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._format = format_named(format)
        self._archive = MemoryArchive()
        self._limits = RequestLimits(window=window)
        options = options_from(load(flags=settings))
        self._engine = ConversationEngine(MemoryStore(), self._archive, clock, counter(model), options)

    def prepare(self, request: Mapping[str, Any]) -> ShortenedRequest:
        """The request to send instead of this one. Pass the whole history every time, as to the provider."""
        parsed = parse(self._format, msgspec.json.encode(request))
        made = self._engine.prepare("conversation", parsed, self._limits)
        return ShortenedRequest(
            request=msgspec.json.decode(made.body), tokens=made.tokens, saved=made.saved, mode=made.mode
        )

    def recall(self, reference: str) -> str:
        """What was left out, by the reference in the line that replaced it."""
        held = self._archive.kept.get(reference)
        if held is None:
            raise RecallFailed(f"Nothing was left out under {reference!r}.", "Take the reference from the request.")
        return held.decode("utf-8", "replace")
