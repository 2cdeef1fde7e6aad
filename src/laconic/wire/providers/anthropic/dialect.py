"""Anthropic's Messages API as our own agent speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from laconic.wire.json_values import as_list
from laconic.wire.messages import (
    AssistantMessage,
    Json,
    Message,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    UserMessage,
    decode_arguments,
    make_call_id,
)
from laconic.wire.providers.anthropic.requests import declare
from laconic.wire.providers.anthropic.usage import USAGE
from laconic.wire.sse import event_of
from laconic.wire.usage import Usage

_MARK: Final = {"type": "ephemeral"}
_GROWING: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def write(asking: ModelRequest) -> bytes:
    """The body of a request, with two marks for the cache: behind what never changes, and behind the history."""
    messages: list[Json] = []
    for at, message in enumerate(asking.messages):
        written = _message(message, at)
        if messages and messages[-1]["role"] == written["role"]:  # roles alternate
            messages[-1] = {**written, "content": [*messages[-1]["content"], *written["content"]]}
        else:
            messages.append(written)
    if messages:
        *content, last = messages[-1]["content"]
        messages[-1] = {**messages[-1], "content": [*content, {**last, "cache_control": _MARK}]}
    body: Json = {"model": asking.model, "max_tokens": asking.most}
    if asking.tools:
        body["tools"] = [declare(tool) for tool in asking.tools]
    if asking.system:
        body["system"] = [{"type": "text", "text": asking.system, "cache_control": _MARK}]
    if asking.temperature is not None:
        body["temperature"] = asking.temperature
    return msgspec.json.encode({**body, "messages": messages, "stream": True})


def _message(message: Message, at: int) -> Json:
    if isinstance(message, UserMessage):
        return {"role": "user", "content": [{"type": "text", "text": message.text}]}
    if isinstance(message, AssistantMessage):
        if message.native is not None and message.format == "anthropic":
            return message.native
        return _write_spoken(message.text, message.uses, at)
    results = []
    for number, one in enumerate(message.outcomes):
        result: Json = {"type": "tool_result", "tool_use_id": make_call_id(one.id, at - 1, number)}
        result["content"] = one.text or "(empty)"
        results.append({**result, "is_error": True} if one.failed else result)
    return {"role": "user", "content": results}


def _write_spoken(text: str, uses: tuple[ModelCall, ...], at: int) -> Json:
    content: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    for n, use in enumerate(uses):
        content.append(
            {"type": "tool_use", "id": make_call_id(use.id, at, n), "name": use.name, "input": use.arguments}
        )
    return {"role": "assistant", "content": content or [{"type": "text", "text": "…"}]}


class MessageReader:
    """Blocks come one after the other; all but calls are kept as they are, signatures included."""

    def __init__(self) -> None:
        self._blocks: dict[int, Json] = {}
        self._written: dict[int, str] = {}  # arguments
        self._stop = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(USAGE.collect(event))
        kind, index = event.get("type"), event.get("index", 0)
        delta = event.get("delta")
        if kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self._blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta" and isinstance(delta, dict) and index in self._blocks:
            return self._grow(index, delta)
        elif kind == "message_delta" and isinstance(delta, dict):
            self._stop = str(delta.get("stop_reason") or self._stop)
        return ""

    def _grow(self, index: int, delta: Json) -> str:
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            self._written[index] = self._written.get(index, "") + str(delta.get("partial_json") or "")
        elif kind in _GROWING and isinstance(piece := delta.get(_GROWING[kind]), str):
            field = _GROWING[kind]
            self._blocks[index][field] = str(self._blocks[index].get(field) or "") + piece
            if kind == "text_delta":
                return piece
            return ""
        return ""

    def close(self) -> ModelAnswer:
        uses, content, texts = [], [], []
        truncated = self._stop == "max_tokens" or (not self._stop and bool(self._blocks))
        for index, block in sorted(self._blocks.items()):
            if block.get("type") == "tool_use":
                given = block.get("input")
                arguments, broken = (given, "") if isinstance(given, dict) else ({}, "arguments")
                if index in self._written or (truncated and not arguments):
                    arguments, broken = decode_arguments(self._written.get(index, "{"), truncated=truncated)
                uses.append(ModelCall(str(block.get("name")), arguments, str(block.get("id") or ""), broken))
                block["input"] = arguments
            elif block.get("type") == "text":
                texts.append(str(block.get("text") or ""))
                if not texts[-1].strip():
                    continue
            content.append(block)
        if content and all(use.id for use in uses):
            native = {"role": "assistant", "content": content}
        else:
            native = None
        return ModelAnswer(
            text="\n".join(texts),
            uses=tuple(uses),
            truncated=truncated,
            native=native,
            usage=USAGE.record(self._counters, False),
        )


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece, as events."""
    yield {"type": "message_start", "message": {key: value for key, value in answer.items() if key != "content"}}
    content = answer.get("content")
    for index, block in enumerate(as_list(content)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
    yield {"type": "message_delta", "delta": {"stop_reason": answer.get("stop_reason") or "end_turn"}}


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def event(kind: str, **more: Any) -> bytes:
        return event_of(msgspec.json.encode({"type": kind, **more}), kind)

    def block(index: int, start: Json, deltas: list[Json]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    usage = heard.usage or Usage()
    counted = {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }
    yield event("message_start", message={"id": "m", "role": "assistant", "content": [], "usage": counted})
    blocks = 0
    if heard.text:
        pieces = [heard.text[start : start + 40] for start in range(0, len(heard.text), 40)]
        deltas: list[Json] = []
        for piece in pieces:
            deltas.append({"type": "text_delta", "text": piece})
        yield from block(0, {"type": "text", "text": ""}, deltas)
        blocks = 1
    for number, use in enumerate(heard.uses):
        start = {"type": "tool_use", "id": make_call_id(use.id, 0, number), "name": use.name, "input": {}}
        written = msgspec.json.encode(use.arguments).decode()
        deltas = []
        for piece in (written[:20], written[20:]):
            deltas.append({"type": "input_json_delta", "partial_json": piece})
        yield from block(blocks + number, start, deltas)
    stop = "end_turn"
    if heard.uses:
        stop = "tool_use"
    if heard.truncated:
        stop = "max_tokens"
    yield event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": usage.output})
    yield event("message_stop")
