"""Gemini's generateContent as our own agent speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from laconic.wire.json_values import as_object, first_object
from laconic.wire.messages import (
    AssistantMessage,
    Json,
    Message,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    UserMessage,
)
from laconic.wire.providers.gemini.requests import declare_function
from laconic.wire.providers.gemini.usage import USAGE
from laconic.wire.sse import event_of
from laconic.wire.usage import Usage


def write(asking: ModelRequest) -> bytes:
    """The body of a request; the model stands in its address."""
    body: Json = {}
    if asking.system:
        body["systemInstruction"] = {"parts": [{"text": asking.system}]}
    if asking.tools:
        declared = []
        for tool in asking.tools:
            declared.append(declare_function(tool))
        body["tools"] = [{"functionDeclarations": declared}]
    contents: list[Json] = []
    for message in asking.messages:
        written = _content(message)
        if contents and contents[-1]["role"] == written["role"]:  # roles alternate
            contents[-1] = {**written, "parts": [*contents[-1]["parts"], *written["parts"]]}
        else:
            contents.append(written)
    body["contents"] = contents
    body["generationConfig"] = {"maxOutputTokens": asking.most}
    if asking.temperature is not None:
        body["generationConfig"]["temperature"] = asking.temperature
    return msgspec.json.encode(body)


def _content(message: Message) -> Json:
    if isinstance(message, UserMessage):
        return {"role": "user", "parts": [{"text": message.text}]}
    if isinstance(message, AssistantMessage):
        if message.native is not None and message.format == "gemini":
            return message.native
        return _write_spoken(message.text, message.uses)
    parts = []
    for one in message.outcomes:
        response: Json = {"name": one.name, "response": {"error" if one.failed else "output": one.text or "(empty)"}}
        parts.append({"functionResponse": {"id": one.id, **response} if one.id else response})
    return {"role": "user", "parts": parts}


def _write_spoken(text: str, uses: tuple[ModelCall, ...]) -> Json:
    parts: list[Json] = [{"text": text}] if text.strip() else []
    for use in uses:
        parts.append({"functionCall": _write_call(use)})
    return {"role": "model", "parts": parts or [{"text": "…"}]}


def _write_call(use: ModelCall) -> Json:
    call: Json = {"name": use.name, "args": use.arguments}
    if use.id:
        return {"id": use.id, **call}
    return call


class ContentReader:
    """Calls come whole. Parts are kept as they are; texts without a signature grow together."""

    def __init__(self) -> None:
        self._parts: list[Json] = []
        self._finish = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(USAGE.collect(event))
        candidates = event.get("candidates")
        candidate = first_object(candidates)
        if not isinstance(candidate, dict):
            return ""
        self._finish = str(candidate.get("finishReason") or self._finish)
        content = candidate.get("content")
        parts = as_object(content).get("parts")
        return "".join(self._part(part) for part in parts or [] if isinstance(part, dict))

    def _part(self, part: Json) -> str:
        text = part.get("text")
        plain = isinstance(text, str) and not part.get("thought")
        last = self._parts[-1] if self._parts else {}
        if plain and set(part) == {"text"} and set(last) == {"text"}:
            self._parts[-1] = {"text": last["text"] + text}
        elif part != {"text": ""}:
            self._parts.append(part)
        if plain:
            return str(text)
        return ""

    def close(self) -> ModelAnswer:
        uses = []
        truncated = self._finish in {"MAX_TOKENS", "MALFORMED_FUNCTION_CALL"} or not self._finish
        for part in self._parts:
            call = part.get("functionCall") or part.get("function_call")
            if isinstance(call, dict):
                given = call.get("args")
                broken = ""
                if given and not isinstance(given, dict):
                    broken = "arguments"
                arguments = as_object(given)
                uses.append(ModelCall(str(call.get("name")), arguments, str(call.get("id") or ""), broken))
        if self._finish == "MALFORMED_FUNCTION_CALL" and not uses:
            uses.append(ModelCall("", {}, "", "not-json"))
            self._parts.append({"functionCall": {"name": "unknown", "args": {}}})
        text = "".join(
            part["text"] for part in self._parts if isinstance(part.get("text"), str) and not part.get("thought")
        )
        if self._parts:
            native = {"role": "model", "parts": self._parts}
        else:
            native = None
        return ModelAnswer(
            text=text,
            uses=tuple(uses),
            truncated=truncated and bool(self._parts),
            native=native,
            usage=USAGE.record(self._counters, False),
        )


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece is an event already."""
    yield answer


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def chunk(parts: list[Json], **more: Any) -> bytes:
        content = {"role": "model", "parts": parts}
        return event_of(msgspec.json.encode({"candidates": [{"content": content, "index": 0, **more}]}))

    for start in range(0, len(heard.text), 40):
        yield chunk([{"text": heard.text[start : start + 40]}])
    if heard.uses:
        yield chunk([{"functionCall": _write_call(use)} for use in heard.uses])
    usage = heard.usage or Usage()
    candidate: Json = {"content": {"role": "model", "parts": [{"text": ""}]}}
    candidate["finishReason"] = "MAX_TOKENS" if heard.truncated else "STOP"
    counted = {"promptTokenCount": usage.prompt, "candidatesTokenCount": usage.output}
    counted["cachedContentTokenCount"] = usage.cache_read
    yield event_of(msgspec.json.encode({"candidates": [candidate], "usageMetadata": counted}))
