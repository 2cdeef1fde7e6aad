"""Calls that a model writes as text, as answers of Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from laconic.wire.messages import (
    Json,
    ToolDefinition,
)
from laconic.wire.prompted_tool_calls.answer import WrittenText, call_id, read_text
from laconic.wire.prompted_tool_calls.calls import PromptedTool
from laconic.wire.prompted_tool_calls.parser import CallParser
from laconic.wire.prompted_tool_calls.written_call_stream import WrittenCallStream
from laconic.wire.providers.anthropic.requests import declare
from laconic.wire.sse import event_of


def rewrite(answer: Json, tools: Sequence[PromptedTool]) -> list[WrittenText] | None:
    """A whole answer whose text holds calls, with real ones instead; None when it is no answer."""
    content = answer.get("content")
    if not isinstance(content, list):
        return None
    texts = []
    for block in content:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block)
    written = "\n".join(block["text"] for block in texts)
    read = read_text(written, tools, answer.get("stop_reason") == "max_tokens")
    outcome = read.outcome
    if outcome.calls:
        kept = []
        for block in content:
            if block not in texts:
                kept.append(block)
        if outcome.text.strip():
            text = [{"type": "text", "text": outcome.text}]
        else:
            text = []
        uses = []
        for number, call in enumerate(outcome.calls):
            uses.append(
                {
                    "type": "tool_use",
                    "id": call_id("toolu", str(answer.get("id")), number),
                    "name": call.name,
                    "input": call.arguments,
                }
            )
        answer["content"] = [*kept, *text, *uses]
        answer["stop_reason"] = "tool_use"
    return [read]


class AnthropicStream(WrittenCallStream):
    """Messages: blocks get numbers of ours, and a text block opens with its first text, so that none stays empty."""

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        super().__init__(tools, retries)
        self._parser = CallParser(tools)
        self._id = ""
        self._blocks = 0
        self._numbers: dict[object, int] = {}  # the provider's number of a block -> ours
        self._text: object = None  # the provider's number of the last text block, whose end is held back
        self._left: tuple[int, int | None] = (0, None)  # blocks at the end of an answer, and the one that was open

    def resume(self) -> bytes:
        self._parser = CallParser(self._tools)
        self._numbers.clear()
        self._blocks, number = self._left
        super().resume()
        if number is None:
            return b""
        return _write_event({"type": "content_block_stop", "index": number})

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            message = event.get("message")
            self._id = self._id or (str(message.get("id")) if isinstance(message, dict) else "")
            if self._resumed:
                return b""
            return raw
        if kind == "content_block_start":
            return self._start(raw, event)
        if kind == "content_block_delta" and index == self._text:
            return self._delta(raw, event)
        if kind == "content_block_stop" and index == self._text:
            return b""
        if kind in {"content_block_delta", "content_block_stop"}:
            return self._renumber(raw, event)
        if kind == "message_delta":
            return self._end(raw, event)
        return raw

    def _start(self, raw: bytes, event: dict[str, Any]) -> bytes:
        ended = self._end_text()
        block = event.get("content_block")
        if isinstance(block, dict) and block.get("type") == "text":
            self._text = event.get("index")
            return ended
        self._numbers[event.get("index")] = self._blocks
        self._blocks += 1
        return ended + self._renumber(raw, event)

    def _delta(self, raw: bytes, event: dict[str, Any]) -> bytes:
        delta = event.get("delta")
        if not isinstance(delta, dict) or delta.get("type") != "text_delta" or not isinstance(delta.get("text"), str):
            return self._open_text() + self._renumber(raw, event)  # citations, say
        self._written += delta["text"]
        return self._say(self._parser.feed(delta["text"]))

    def _end(self, raw: bytes, event: dict[str, Any]) -> bytes:
        if isinstance(event.get("delta"), dict):
            delta = event.get("delta")
        else:
            delta = {}
        assert isinstance(delta, dict)
        truncated = delta.get("stop_reason") == "max_tokens"
        outcome = self._parser.close(truncated=truncated)
        self._judge(outcome, truncated=truncated)
        self._left = (self._blocks, self._numbers.get(self._text))
        out = [self._say(outcome.text), self._end_text()]
        for number, call in enumerate(outcome.calls):
            use = {"type": "tool_use", "id": call_id("toolu", self._id, number), "name": call.name, "input": {}}
            arguments = msgspec.json.encode(call.arguments).decode()
            out.append(self._block(use, {"type": "input_json_delta", "partial_json": arguments}))
        if outcome.calls:
            raw = _write_event({**event, "delta": {**delta, "stop_reason": "tool_use"}})
        return b"".join([*out, raw])

    def _say(self, text: str) -> bytes:
        text = self._apart(text)
        if not text:
            return b""
        opened = self._open_text()
        return opened + self._write_delta(self._numbers[self._text], {"type": "text_delta", "text": text})

    def _open_text(self) -> bytes:
        """The start of the current text block, once."""
        if self._text in self._numbers:
            return b""
        number = self._numbers[self._text] = self._blocks
        self._blocks += 1
        return _write_event(
            {"type": "content_block_start", "index": number, "content_block": {"type": "text", "text": ""}}
        )

    def _end_text(self) -> bytes:
        """The end of the last text block, if it was opened at all."""
        number = self._numbers.pop(self._text, None)
        self._text = None
        if number is None:
            return b""
        return _write_event({"type": "content_block_stop", "index": number})

    def _renumber(self, raw: bytes, event: dict[str, Any]) -> bytes:
        number = self._numbers.get(event.get("index"), event.get("index"))
        if number == event.get("index"):
            return raw
        return _write_event({**event, "index": number})

    def _block(self, block: dict[str, Any], delta: dict[str, Any]) -> bytes:
        index = self._blocks
        self._blocks += 1
        start = _write_event({"type": "content_block_start", "index": index, "content_block": block})
        return start + self._write_delta(index, delta) + _write_event({"type": "content_block_stop", "index": index})

    @staticmethod
    def _write_delta(index: int, delta: dict[str, Any]) -> bytes:
        return _write_event({"type": "content_block_delta", "index": index, "delta": delta})


def _write_event(event: dict[str, Any]) -> bytes:
    return event_of(msgspec.json.encode(event), str(event["type"]))


def question(model: str, text: str, tool: ToolDefinition, most: int) -> bytes:
    """A request with one tool."""
    messages = [{"role": "user", "content": text}]
    body = {"model": model, "max_tokens": most, "messages": messages, "tools": [declare(tool)]}
    return msgspec.json.encode(body)
