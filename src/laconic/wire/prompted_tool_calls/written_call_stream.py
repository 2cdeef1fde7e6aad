"""What the rewriters of all formats share: events are read, what is held back is kept, a model may be asked again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import value
from laconic.wire.prompted_tool_calls.calls import BrokenCall, PromptedTool, UnusableCalls
from laconic.wire.prompted_tool_calls.parser import ParsedAnswer
from laconic.wire.sse import ServerSentEvents, data_of


class WrittenCallStream(ABC):
    """Rewrites the events of one answer. Subclasses know one format each.

    When a model wrote calls of which none can be used, and it may be asked again, the end of its answer is held back
    (`nonsense` says what it wrote); its next answer then goes on in the same stream.
    """

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        self._tools = tools
        self._events = ServerSentEvents()
        self._retries = retries
        self._written = ""  # by the model, in this answer
        self._passed = self._before = ""  # the last text that went to the client; before the end was held back
        self._held: list[bytes] = []
        self._resumed = False
        self._joint = False  # nothing of the next answer has gone to the client yet
        self.broken: list[BrokenCall] = []
        self.nonsense: UnusableCalls | None = None

    def feed(self, chunk: bytes) -> bytes:
        """The next bytes from the provider; returns what goes to the client."""
        return b"".join(self._keep(self._event(event)) for event in self._events.feed(chunk))

    def close(self) -> bytes:
        """The provider has ended the stream; what is left of a truncated event passes as it is."""
        return self._keep(self._events.close())

    def resume(self) -> bytes:
        """The model was asked again: its next answer follows, and the end that was held back is not needed."""
        self._events = ServerSentEvents()
        self._retries -= 1
        self._written, self._passed = "", self._before
        self._held.clear()
        self._resumed = self._joint = True
        self.nonsense = None
        return b""

    def give_up(self) -> bytes:
        """There is no next answer: the end that was held back."""
        self.nonsense = None
        return b"".join(self._held)

    def _keep(self, event: bytes) -> bytes:
        if self.nonsense is None:
            return event
        self._held.append(event)
        return b""

    def _judge(self, outcome: ParsedAnswer, *, truncated: bool) -> None:
        """An answer has ended. One that was cut off would be cut off again."""
        self.broken += outcome.broken
        if outcome.useless and not truncated and self._retries > 0:
            self.nonsense = UnusableCalls(self._written, outcome.broken)
        self._before = self._passed

    def _apart(self, text: str) -> str:
        """What follows an earlier answer starts on a line of its own."""
        if not text:
            return ""
        if self._joint and self._passed and not self._passed.endswith("\n"):
            text = "\n" + text
        self._passed, self._joint = text, False
        return text

    def _event(self, raw: bytes) -> bytes:
        try:
            event = value(data_of(raw))
        except MalformedRequest:
            return raw  # `[DONE]`, comments, keep-alives
        if isinstance(event, dict):
            return self._rewrite(raw, event)
        return raw

    @abstractmethod
    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        """One event as the client gets it."""
