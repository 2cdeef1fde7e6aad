"""What an agent and a model exchange, in a provider-neutral form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from laconic.wire.usage import Usage

Json = dict[str, Any]


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool as a model is told about it."""

    name: str
    about: str
    schema: Mapping[str, Any]


class ModelCall(msgspec.Struct, frozen=True):
    """A call that a model makes. Providers may leave out the id: then place and name pair it with its result."""

    name: str
    arguments: dict[str, Any]
    id: str = ""
    broken: str = ""  # why it may not run: truncated, not-json


class CallResult(msgspec.Struct, frozen=True):
    """What came of a call."""

    name: str
    text: str
    id: str = ""
    failed: bool = False


class UserMessage(msgspec.Struct, frozen=True, tag="words"):
    """The user's."""

    text: str


class AssistantMessage(msgspec.Struct, frozen=True, tag="spoken"):
    """The model's: text, calls, and the message as its provider wants to see it again."""

    text: str
    uses: tuple[ModelCall, ...] = ()
    native: Json | None = None
    format: str = ""  # of that message


class ToolResults(msgspec.Struct, frozen=True, tag="outcomes"):
    """The results of all calls of the message before, in their order."""

    outcomes: tuple[CallResult, ...]


Message = UserMessage | AssistantMessage | ToolResults


class ModelRequest(msgspec.Struct, frozen=True):
    """A request."""

    model: str
    system: str
    tools: tuple[ToolDefinition, ...]
    messages: tuple[Message, ...]
    most: int  # tokens that the answer may have
    temperature: float | None = None  # None: the model's own


class ModelAnswer(msgspec.Struct, frozen=True):
    """A whole answer."""

    text: str = ""
    uses: tuple[ModelCall, ...] = ()
    truncated: bool = False
    native: Json | None = None
    usage: Usage | None = None


class AnswerEventReader(Protocol):
    """Reads the events of one answer."""

    def event(self, event: Json) -> str:
        """The next event; returns the text that it adds."""

    def close(self) -> ModelAnswer:
        """The answer has ended."""


@dataclass(frozen=True, slots=True)
class ProviderDialect:
    """One provider's words."""

    write: Callable[[ModelRequest], bytes]
    reader: Callable[[], AnswerEventReader]
    whole: Callable[[Json], Iterator[Json]]  # an answer that was not streamed, as events
    express: Callable[[ModelAnswer], Iterator[bytes]]  # an answer as the provider would stream it


def decode_arguments(written: str, *, truncated: bool) -> tuple[dict[str, Any], str]:
    """The arguments of a call, and why they cannot be used. Nothing is repaired: a guess could write the wrong text."""
    try:
        if written.strip():
            value = msgspec.json.decode(written.encode("utf-8", "replace"))
        else:
            value = {}
    except (msgspec.MsgspecError, RecursionError):
        return {}, "truncated" if truncated else "not-json"
    if isinstance(value, dict):
        return (value, "")
    return ({}, "arguments")


def make_call_id(id: str, message: int, number: int) -> str:
    """An id for a call that has none, from where it stands."""
    return id or f"call_{message}_{number}"
