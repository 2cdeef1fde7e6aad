"""The way down, streamed answers: text passes as it comes, calls follow at the end, every event well formed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.prompted.answer import call_id, chat_call
from laconic.wire.prompted.calls import Broken, Tool
from laconic.wire.prompted.parser import CallParser
from laconic.wire.spans import value
from laconic.wire.sse import Events, data_of, event_of


class DownStream(ABC):
    """Rewrites the events of one answer. Subclasses know one format each."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._events = Events()
        self.broken: list[Broken] = []

    def feed(self, chunk: bytes) -> bytes:
        """The next bytes from the provider; returns what goes to the client."""
        return b"".join(self._event(event) for event in self._events.feed(chunk))

    def close(self) -> bytes:
        """The provider has ended the stream; what is left of a truncated event passes as it is."""
        return self._events.close()

    def _event(self, raw: bytes) -> bytes:
        try:
            event = value(data_of(raw))
        except MalformedRequest:
            return raw  # `[DONE]`, comments, keep-alives
        return self._rewrite(raw, event) if isinstance(event, dict) else raw

    @abstractmethod
    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        """One event as the client gets it."""


class ChatStream(DownStream):
    """Chat completions: one parser for each choice."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._parsers: dict[int, CallParser] = {}

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return raw
        out = []
        for choice in choices:
            if isinstance(choice, dict):
                out += self._choice(event, choice)
        return b"".join(out)

    def _choice(self, event: dict[str, Any], choice: dict[str, Any]) -> list[bytes]:
        index = choice.get("index", 0)
        parser = self._parsers.setdefault(index, CallParser(self._tools))
        delta = choice.get("delta") if isinstance(choice.get("delta"), dict) else {}
        assert isinstance(delta, dict)
        out = []
        if isinstance(delta.get("content"), str):
            delta = {**delta, "content": parser.feed(delta["content"])}
        finish = choice.get("finish_reason")
        if finish is None:
            idle = delta.get("content") == "" and not any(delta[key] for key in delta if key != "content")
            return [] if idle else [self._chunk(event, choice, delta, None)]
        outcome = parser.close(truncated=finish == "length")
        self.broken += outcome.broken
        text = (delta.pop("content", None) or "") + outcome.text
        if text or delta:
            out.append(self._chunk(event, choice, {**delta, "content": text} if text else delta, None))
        name = f"{event.get('id')}/{index}"
        for number, call in enumerate(outcome.calls):
            written = {"index": number, **chat_call(call, name, number)}
            out.append(self._chunk(event, choice, {"tool_calls": [written]}, None))
        return [*out, self._chunk(event, choice, {}, "tool_calls" if outcome.calls else finish)]

    @staticmethod
    def _chunk(event: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any], finish: object) -> bytes:
        new = {**event, "choices": [{**choice, "delta": delta, "finish_reason": finish}]}
        if finish is None:
            new.pop("usage", None)
        return event_of(msgspec.json.encode(new))


class AnthropicStream(DownStream):
    """Messages: the last text block stays open until it is known what it holds."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._parser = CallParser(tools)
        self._id = ""
        self._blocks = 0
        self._text: int | None = None  # the text block that is open
        self._stop = b""  # its end, held back

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        kind = event.get("type")
        if kind == "message_start":
            message = event.get("message")
            self._id = str(message.get("id")) if isinstance(message, dict) else ""
        elif kind == "content_block_start":
            return self._start(raw, event)
        elif kind == "content_block_delta":
            return self._delta(raw, event)
        elif kind == "content_block_stop" and event.get("index") == self._text:
            self._stop = raw
            return b""
        elif kind == "message_delta":
            return self._end(raw, event)
        return raw

    def _start(self, raw: bytes, event: dict[str, Any]) -> bytes:
        held, self._stop = self._stop, b""
        block = event.get("content_block")
        self._blocks = max(self._blocks, int(event.get("index", 0)) + 1)
        self._text = event.get("index") if isinstance(block, dict) and block.get("type") == "text" else None
        return held + raw

    def _delta(self, raw: bytes, event: dict[str, Any]) -> bytes:
        delta = event.get("delta")
        if not isinstance(delta, dict) or delta.get("type") != "text_delta" or not isinstance(delta.get("text"), str):
            return raw
        text = self._parser.feed(delta["text"])
        return self._written(event.get("index", 0), {"type": "text_delta", "text": text}) if text else b""

    def _end(self, raw: bytes, event: dict[str, Any]) -> bytes:
        delta = event.get("delta") if isinstance(event.get("delta"), dict) else {}
        assert isinstance(delta, dict)
        outcome = self._parser.close(truncated=delta.get("stop_reason") == "max_tokens")
        self.broken += outcome.broken
        out = [self._rest(outcome.text), self._stop]
        for number, call in enumerate(outcome.calls):
            use = {"type": "tool_use", "id": call_id("toolu", self._id, number), "name": call.name, "input": {}}
            arguments = msgspec.json.encode(call.arguments).decode()
            out.append(self._block(use, {"type": "input_json_delta", "partial_json": arguments}))
        if outcome.calls:
            raw = _event({**event, "delta": {**delta, "stop_reason": "tool_use"}})
        return b"".join([*out, raw])

    def _rest(self, text: str) -> bytes:
        if not text:
            return b""
        delta = {"type": "text_delta", "text": text}
        if self._text is not None:
            return self._written(self._text, delta)
        return self._block({"type": "text", "text": ""}, delta)

    def _block(self, block: dict[str, Any], delta: dict[str, Any]) -> bytes:
        index = self._blocks
        self._blocks += 1
        start = _event({"type": "content_block_start", "index": index, "content_block": block})
        return start + self._written(index, delta) + _event({"type": "content_block_stop", "index": index})

    @staticmethod
    def _written(index: int, delta: dict[str, Any]) -> bytes:
        return _event({"type": "content_block_delta", "index": index, "delta": delta})


def _event(event: dict[str, Any]) -> bytes:
    return event_of(msgspec.json.encode(event), str(event["type"]))


def stream_for(format: str, tools: Sequence[Tool]) -> DownStream:
    """The rewriter for answers in that format."""
    return AnthropicStream(tools) if format == "anthropic" else ChatStream(tools)
