"""Hidden calls in Gemini's answers: parts of a candidate, each whole in its event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.wire.hidden_calls import CallOwner, HeldAnswer, HeldStream, HiddenCalls, hold, sum_reports
from laconic.wire.json_values import as_object, first_object
from laconic.wire.messages import Json
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.providers.gemini.dialect import ContentReader
from laconic.wire.sse import event_of


class HiddenPartStream(HeldStream):
    """An event with a hidden call may hold words before it, which pass at once."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._reader = ContentReader()
        self._report: Json = {}  # of usage, of all answers so far
        self._latest: Json = {}

    def resume(self) -> None:
        super().resume()
        self._reader = ContentReader()
        self._report, self._latest = sum_reports(self._report, self._latest), {}

    def _observe(self, event: Json) -> None:
        self._reader.event(event)
        if isinstance(event.get("usageMetadata"), dict):
            self._latest = event["usageMetadata"]

    def _begins_call(self, event: Json) -> CallOwner:
        names = []
        for part in _parts(event):
            names.append(_call_name(part))
        if any(name and name != self._name for name in names):
            self._has_others = True
        if self._name in names:
            return "hidden"
        if any(names):
            return "client"
        return ""

    def _before_call(self, event: Json) -> bytes:
        words: list[Json] = []
        for part in _parts(event):
            if _call_name(part):
                break
            words.append(part)
        if not words:
            return b""
        return event_of(
            msgspec.json.encode({"candidates": [{"content": {"role": "model", "parts": words}, "index": 0}]})
        )

    def _pass(self, raw: bytes, event: Json) -> bytes:
        if not self._round or not isinstance(event.get("usageMetadata"), dict):
            return raw
        usage = sum_reports(self._report, event["usageMetadata"])
        return event_of(msgspec.json.encode({**event, "usageMetadata": usage}))

    def _pass_visible(self, raw: bytes, event: Json) -> bytes:
        parts = _parts(event)
        if not any(_call_name(part) == self._name for part in parts):
            return self._pass(raw, event)
        first = next(at for at, part in enumerate(parts) if _call_name(part))
        kept = []
        for part in parts[first:]:
            if _call_name(part) != self._name:
                kept.append(part)
        visible = _with_parts(event, kept or [{"text": ""}])
        return self._pass(event_of(msgspec.json.encode(visible)), visible)

    def _read_answer(self) -> HeldAnswer:
        heard = self._reader.close()
        calls = tuple(use for use in heard.uses if use.name == self._name)
        return HeldAnswer(calls, (heard.native,) if heard.native is not None else ())


def forbids(conversation: ParsedRequest) -> bool:
    """Whether the model may call nothing, or only what the client names."""
    for name in ("toolConfig", "tool_config"):
        config = conversation.decode_field(name)
        for inner in ("functionCallingConfig", "function_calling_config"):
            calling = as_object(config).get(inner)
            if not isinstance(calling, Mapping):
                continue
            names = calling.get("allowedFunctionNames") or calling.get("allowed_function_names")
            if calling.get("mode") == "NONE" or names:
                return True
    return False


def read(answer: Json, name: str) -> HeldAnswer | None:
    """A whole answer that makes hidden calls and no others."""
    reader = ContentReader()
    reader.event(answer)
    return hold(reader.close(), name)


def remove(answer: Json, name: str) -> Json:
    """A whole answer without hidden calls."""
    parts = _parts(answer)
    kept = []
    for part in parts:
        if _call_name(part) != name:
            kept.append(part)
    if len(kept) == len(parts):
        return answer
    return _with_parts(answer, kept or [{"text": ""}])


def join(first: Json, last: Json) -> Json:
    """Two answers as one."""
    joined = _with_parts(last, [*_parts(first), *_parts(last)])
    return {**joined, "usageMetadata": sum_reports(first.get("usageMetadata"), last.get("usageMetadata"))}


def write(answer: HeldAnswer, texts: Sequence[str]) -> list[Json]:
    """The answer, and the results of its calls."""
    parts: list[Json] = []
    for call, text in zip(answer.calls, texts, strict=True):
        response: Json = {"name": call.name, "response": {"output": text}}
        if call.id:
            response["id"] = call.id
        parts.append({"functionResponse": response})
    return [*answer.native, {"role": "user", "parts": parts}]


def _parts(event: Json) -> list[Json]:
    candidates = event.get("candidates")
    first = first_object(candidates)
    content = as_object(first).get("content")
    parts = as_object(content).get("parts")
    if isinstance(parts, list):
        found = []
        for part in parts:
            if isinstance(part, dict):
                found.append(part)
        return found
    return []


def _with_parts(event: Json, parts: list[Json]) -> Json:
    first, *others = event["candidates"]
    content = {"role": "model", **(first.get("content") or {}), "parts": parts}
    return {**event, "candidates": [{**first, "content": content}, *others]}


def _call_name(part: Json) -> str:
    call = part.get("functionCall") or part.get("function_call")
    if isinstance(call, Mapping):
        return str(call.get("name") or "")
    return ""


HIDDEN_CALLS: Final = HiddenCalls(
    forbids=forbids, stream=HiddenPartStream, read=read, remove=remove, join=join, write=write
)
