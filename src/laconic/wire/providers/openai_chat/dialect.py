"""OpenAI's chat completions as our own agent speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from laconic.models.find_model import find_model
from laconic.wire.json_values import as_list, as_object, first_object
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
from laconic.wire.providers.openai_chat.requests import declare
from laconic.wire.providers.openai_chat.usage import USAGE
from laconic.wire.sse import event_of
from laconic.wire.usage import Usage


def write(asking: ModelRequest) -> bytes:
    """The body of a request."""
    messages: list[Json] = [{"role": "system", "content": asking.system}] if asking.system else []
    for at, message in enumerate(asking.messages):
        written = _messages(message, at)
        if messages and messages[-1]["role"] == "user" == written[0]["role"]:  # roles alternate
            written[0]["content"] = f"{messages.pop()['content']}\n\n{written[0]['content']}"
        messages += written
    body: Json = {"model": asking.model, "messages": messages}
    if asking.tools:
        body["tools"] = [declare(tool) for tool in asking.tools]
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    body["max_completion_tokens" if find_model(asking.model).max_completion_tokens else "max_tokens"] = asking.most
    if asking.temperature is not None:
        body["temperature"] = asking.temperature
    return msgspec.json.encode(body)


def _messages(message: Message, at: int) -> list[Json]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": message.text}]
    if isinstance(message, AssistantMessage):
        if message.native is not None and message.format == "chat":
            return [message.native]
        return [_write_spoken(message.text, message.uses, at)]
    found = []
    for n, one in enumerate(message.outcomes):
        found.append(
            {"role": "tool", "tool_call_id": make_call_id(one.id, at - 1, n), "content": one.text or "(empty)"}
        )
    return found


def _write_spoken(text: str, uses: tuple[ModelCall, ...], at: int) -> Json:
    message: Json = {"role": "assistant", "content": text or None}
    if uses:
        message["tool_calls"] = [_write_call(use, make_call_id(use.id, at, n)) for n, use in enumerate(uses)]
    elif not text:
        message["content"] = "…"
    return message


def _write_call(use: ModelCall, id: str) -> Json:
    arguments = msgspec.json.encode(use.arguments).decode()
    return {"id": id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


class ChatReader:
    """Calls come in pieces: the first has name and id, the others add to the arguments."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[object, Json] = {}
        self._finish = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(USAGE.collect(event))
        choices = event.get("choices")
        choice = first_object(choices)
        if not isinstance(choice, dict):
            return ""
        self._finish = str(choice.get("finish_reason") or self._finish)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        for number, piece in enumerate(delta.get("tool_calls") or []):
            if isinstance(piece, dict):
                self._piece(piece, number)
        if isinstance(thought := delta.get("reasoning_content"), str):
            self._thoughts.append(thought)
        text = delta.get("content")
        if not isinstance(text, str):
            return ""
        self._text.append(text)
        return text

    def _piece(self, piece: Json, number: int) -> None:
        """Servers that send whole calls at once leave out the index, or give all the same."""
        key: object = piece.get("index", number)
        known = self._calls.get(key)
        if known is not None and piece.get("id") and known["id"] not in {"", piece["id"]}:
            key = len(self._calls) + 1000
            known = None
        if known is None:
            known = self._calls[key] = {"id": "", "name": "", "arguments": ""}
        inner = piece.get("function")
        inner = as_object(inner)
        known["id"] = known["id"] or str(piece.get("id") or "")
        known["name"] += str(inner.get("name") or "")
        arguments = inner.get("arguments")
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode()
        known["arguments"] += arguments or ""

    def close(self) -> ModelAnswer:
        truncated = self._finish == "length" or (not self._finish and bool(self._calls))
        uses = []
        for call in self._calls.values():
            arguments, broken = decode_arguments(call["arguments"], truncated=truncated)
            uses.append(ModelCall(call["name"], arguments, call["id"], broken))
        text = "".join(self._text)
        native = None
        if all(use.id for use in uses):
            native = _write_spoken(text, tuple(uses), 0)
            if self._thoughts and uses:
                native["reasoning_content"] = "".join(self._thoughts)
        return ModelAnswer(
            text=text, uses=tuple(uses), truncated=truncated, native=native, usage=USAGE.record(self._counters, False)
        )


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece, as events."""
    choices = answer.get("choices")
    for choice in as_list(choices):
        if isinstance(choice, dict):
            yield {**answer, "choices": [{**choice, "delta": choice.get("message")}]}


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def chunk(delta: Json, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event_of(msgspec.json.encode({"id": "c", "choices": [choice], **more}))

    for start in range(0, len(heard.text), 40):
        yield chunk({"role": "assistant", "content": heard.text[start : start + 40]})
    for number, use in enumerate(heard.uses):
        call = _write_call(use, make_call_id(use.id, 0, number))
        written = call["function"]["arguments"]
        call["function"]["arguments"] = written[:20]
        yield chunk({"tool_calls": [{"index": number, **call}]})
        yield chunk({"tool_calls": [{"index": number, "function": {"arguments": written[20:]}}]})
    finish = "stop"
    if heard.uses:
        finish = "tool_calls"
    if heard.truncated:
        finish = "length"
    usage = heard.usage or Usage()
    counted = {"prompt_tokens": usage.prompt, "completion_tokens": usage.output}
    yield chunk({}, finish, usage={**counted, "prompt_tokens_details": {"cached_tokens": usage.cache_read}})
    yield event_of(b"[DONE]")
