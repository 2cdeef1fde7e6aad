"""Calls that a model writes as text, as answers of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from laconic.wire.json_values import as_object
from laconic.wire.messages import (
    Json,
    ToolDefinition,
)
from laconic.wire.prompted_tool_calls.answer import WrittenText, call_id, read_text
from laconic.wire.prompted_tool_calls.calls import PromptedCall, PromptedTool
from laconic.wire.prompted_tool_calls.parser import CallParser
from laconic.wire.prompted_tool_calls.written_call_stream import WrittenCallStream
from laconic.wire.providers.openai_chat.requests import declare
from laconic.wire.sse import event_of


def chat_call(call: PromptedCall, answer: str, number: int) -> dict[str, Any]:
    """A call in chat completions."""
    arguments = msgspec.json.encode(call.arguments).decode()
    return {
        "id": call_id("call", answer, number),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def rewrite(answer: Json, tools: Sequence[PromptedTool]) -> list[WrittenText] | None:
    """A whole answer whose text holds calls, with real ones instead; None when it is no answer."""
    if not isinstance(answer.get("choices"), list):
        return None
    texts: list[WrittenText] = []
    for choice in answer["choices"]:
        message = as_object(choice).get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            continue
        texts.append(read_text(message["content"], tools, choice.get("finish_reason") == "length"))
        outcome = texts[-1].outcome
        if outcome.calls:
            message["content"] = outcome.text if outcome.text.strip() else None
            name = f"{answer.get('id')}/{choice.get('index', 0)}"
            message["tool_calls"] = [chat_call(call, name, number) for number, call in enumerate(outcome.calls)]
            choice["finish_reason"] = "tool_calls"
    return texts


class ChatStream(WrittenCallStream):
    """Chat completions: one parser for each choice. Only an answer of one choice can be asked for again."""

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        super().__init__(tools, retries)
        self._parsers: dict[int, CallParser] = {}
        self._id: object = None

    def resume(self) -> bytes:
        self._parsers.clear()
        return super().resume()

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return raw
        if self._id is None:
            self._id = event.get("id")
        out = []
        for choice in choices:
            if isinstance(choice, dict):
                out += self._choice({**event, "id": self._id} if "id" in event else event, choice)
        return b"".join(out)

    def _choice(self, event: dict[str, Any], choice: dict[str, Any]) -> list[bytes]:
        index = choice.get("index", 0)
        if index:
            self._retries = 0
        parser = self._parsers.setdefault(index, CallParser(self._tools))
        if isinstance(choice.get("delta"), dict):
            delta = dict(choice["delta"])
        else:
            delta = {}
        if self._resumed:
            delta.pop("role", None)  # said before; clients put such words together
        out = []
        if isinstance(delta.get("content"), str):
            self._written += delta["content"]
            delta["content"] = self._apart(parser.feed(delta["content"]))
        finish = choice.get("finish_reason")
        if finish is None:
            idle = delta.get("content", "") == "" and not any(delta[key] for key in delta if key != "content")
            if idle:
                return []
            return [self._chunk(event, choice, delta, None)]
        outcome = parser.close(truncated=finish == "length")
        self._judge(outcome, truncated=finish == "length")
        text = (delta.pop("content", None) or "") + self._apart(outcome.text)
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


def question(model: str, text: str, tool: ToolDefinition, most: int) -> bytes:
    """A request with one tool."""
    messages = [{"role": "user", "content": text}]
    body = {"model": model, "max_tokens": most, "messages": messages, "tools": [declare(tool)]}
    return msgspec.json.encode(body)
