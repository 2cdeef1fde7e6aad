"""Calls in an answer that are not the client's to run: they are held back, answered, and the model is asked again.

The client sees one answer. What passes before a hidden call, passes as it came.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import value
from laconic.wire.json_values import as_object
from laconic.wire.messages import Json, ModelAnswer, ModelCall
from laconic.wire.sse import ServerSentEvents, data_of

if TYPE_CHECKING:
    from laconic.wire.parsed_request import ParsedRequest

CallOwner = Literal["", "hidden", "client"]
_HELD: Final = 8 * 2**20  # bytes of an answer that are held back
_READ: Final = 64 * 2**20  # bytes of an answer that are kept for the next request


class HeldAnswer(msgspec.Struct, frozen=True):
    """An answer with hidden calls: what they are, and all of it as the provider wants to see it again."""

    calls: tuple[ModelCall, ...]
    native: tuple[Json, ...]


def hold(heard: ModelAnswer, name: str) -> HeldAnswer | None:
    """A whole answer that makes hidden calls and no others."""
    if heard.native is None or not heard.uses or any(use.name != name for use in heard.uses):
        return None
    return HeldAnswer(heard.uses, (heard.native,))


class HeldStream(ABC):
    """Passes the events of one answer on, but for those of hidden calls. Subclasses know one format each.

    When an answer makes hidden calls and no others, its end is held back, and `answer` is set; `resume` lets the next
    answer of the model go on in the same stream.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._events = ServerSentEvents()
        self._held: list[tuple[bytes, Json | None]] = []
        self._held_size = 0
        self._read = 0  # bytes
        self._is_holding = False
        self._is_full = False  # nothing more can be held back: the rest passes without hidden calls
        self._has_others = False  # calls for the client
        self._round = 0
        self._counters: Counter[str] = Counter()  # of this answer
        self._earlier: Counter[str] = Counter()  # of those before
        self.answer: HeldAnswer | None = None

    def feed(self, chunk: bytes) -> bytes:
        """The next bytes from the provider; returns what goes to the client."""
        return b"".join(self._take(raw) for raw in self._events.feed(chunk))

    def close(self) -> bytes:
        """The provider has ended the stream."""
        rest = self._events.close()
        if rest:
            rest = self._take(rest)
        if not self._is_holding:
            return rest
        if self._has_others:
            return rest + self._release()
        self.answer = self._read_answer()
        return rest

    def resume(self) -> None:
        """The model was asked again: its next answer follows, and the end that was held back is not needed."""
        self._earlier.update(self._counters)
        self._counters.clear()
        self._events = ServerSentEvents()
        self._held.clear()
        self._held_size = self._read = 0
        self._is_holding = self._is_full = self._has_others = False
        self._round += 1
        self.answer = None

    def give_up(self) -> bytes:
        """There is no next answer: the end that was held back, without the hidden calls."""
        self.answer = None
        return self._release()

    def _take(self, raw: bytes) -> bytes:
        event = _decode(raw)
        self._read += len(raw)
        if self._read > _READ:
            self._is_full = True
        if event is not None:
            if not self._is_full:
                self._observe(event)
            owner = self._begins_call(event)
            self._has_others = self._has_others or owner == "client"
            if owner == "hidden" and not self._is_full:
                self._is_holding = True
                return self._before_call(event) + self._hold(raw, event)
        if self._is_holding:
            return self._hold(raw, event)
        if event is None:
            return raw
        if self._is_full:
            return self._pass_visible(raw, event)
        return self._pass(raw, event)

    def _hold(self, raw: bytes, event: Json | None) -> bytes:
        """Keep an event back; one too many lets all of them go, without the hidden calls."""
        self._held.append((raw, event))
        self._held_size += len(raw)
        if self._held_size <= _HELD:
            return b""
        self._is_full = True
        return self._release()

    def _release(self) -> bytes:
        out: list[bytes] = []
        for raw, event in self._held:
            out.append(raw if event is None else self._pass_visible(raw, event))
        self._held.clear()
        self._is_holding = False
        return b"".join(out)

    def _add_usage(self, usage: Mapping[str, object]) -> Json:
        """A report with what earlier answers used."""
        added: Json = dict(usage)
        for name, count in (self._earlier + self._counters).items():
            if name in added or self._earlier[name]:
                added[name] = count
        return added

    def _before_call(self, event: Json) -> bytes:
        """What of an event with a hidden call goes to the client at once."""
        return b""

    @abstractmethod
    def _observe(self, event: Json) -> None:
        """Keep what the answer will need when it is sent back."""

    @abstractmethod
    def _begins_call(self, event: Json) -> CallOwner:
        """Whose call begins in this event."""

    @abstractmethod
    def _pass(self, raw: bytes, event: Json) -> bytes:
        """An event as the client gets it."""

    @abstractmethod
    def _pass_visible(self, raw: bytes, event: Json) -> bytes:
        """The same without hidden calls."""

    @abstractmethod
    def _read_answer(self) -> HeldAnswer:
        """The answer, to be sent back with results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCalls:
    """How one format hides calls."""

    forbids: Callable[[ParsedRequest], bool]  # whether a request lets the model call no tool of its own choice
    stream: Callable[[str], HeldStream]
    read: Callable[[Json, str], HeldAnswer | None]  # a whole answer with hidden calls of that name, and no others
    remove: Callable[[Json, str], Json]  # a whole answer without them
    join: Callable[[Json, Json], Json]  # two answers as one
    write: Callable[[HeldAnswer, Sequence[str]], list[Json]]  # the messages to go on with: the answer, and results


def sum_reports(first: object, last: object) -> Json:
    """Two reports of usage as one: numbers add up, at any depth."""
    one = as_object(first)
    two = as_object(last)
    added: Json = dict(two)
    for name, count in one.items():
        other = two.get(name)
        if isinstance(count, Mapping):
            added[name] = sum_reports(count, other)
        elif isinstance(count, int) and not isinstance(count, bool):
            added[name] = count + (other if isinstance(other, int) else 0)
    return added


def _decode(raw: bytes) -> Json | None:
    data = data_of(raw)
    if not data:
        return None
    try:
        event = value(data)
    except MalformedRequest:
        return None  # `[DONE]`, comments, keep-alives
    if isinstance(event, dict):
        return event
    return None
