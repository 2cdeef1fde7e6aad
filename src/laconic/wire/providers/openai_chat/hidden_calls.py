"""Hidden calls in answers of chat completions: pieces of calls have the number of their call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.wire.hidden_calls import CallOwner, HeldAnswer, HeldStream, HiddenCalls, hold, sum_reports
from laconic.wire.json_values import as_object, first_object, objects_in
from laconic.wire.messages import Json
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.providers.openai_chat.dialect import ChatReader, whole
from laconic.wire.sse import event_of


class HiddenPieceStream(HeldStream):
    """Only an answer of one choice hides calls."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._reader = ChatReader()
        self._hidden: set[object] = set()  # numbers of hidden calls
        self._id: object = None
        self._report: Json = {}  # of usage, of all answers so far
        self._latest: Json = {}

    def resume(self) -> None:
        super().resume()
        self._reader = ChatReader()
        self._hidden.clear()
        self._report, self._latest = sum_reports(self._report, self._latest), {}

    def _observe(self, event: Json) -> None:
        self._reader.event(event)
        if self._id is None:
            self._id = event.get("id")
        if isinstance(event.get("usage"), dict):
            self._latest = event["usage"]

    def _begins_call(self, event: Json) -> CallOwner:
        owner: CallOwner = ""
        for piece in _pieces(_delta(event)):
            function = piece.get("function")
            name = as_object(function).get("name")
            if name == self._name:
                self._hidden.add(piece.get("index", 0))
                owner = owner or "hidden"
            elif name:
                owner = "client"
        return owner

    def _pass(self, raw: bytes, event: Json) -> bytes:
        if not self._round:
            return raw
        passed = dict(event)
        if "id" in event:
            passed["id"] = self._id
        if isinstance(event.get("usage"), dict):
            passed["usage"] = sum_reports(self._report, event["usage"])
        delta = _delta(event)
        if "role" in delta:  # said before; clients put such words together
            passed = _with_delta(passed, {name: value for name, value in delta.items() if name != "role"})
        return event_of(msgspec.json.encode(passed))

    def _pass_visible(self, raw: bytes, event: Json) -> bytes:
        delta, visible = _delta(event), event
        pieces = _pieces(delta)
        kept = []
        for piece in pieces:
            if piece.get("index", 0) not in self._hidden:
                kept.append(piece)
        if len(kept) < len(pieces):
            rest = {}
            for name, value in delta.items():
                if name != "tool_calls":
                    rest[name] = value
            visible = _with_delta(visible, {**rest, "tool_calls": kept} if kept else rest)
        if not self._has_others:
            visible = _with_finish(visible, "stop")
        if visible is event:
            return self._pass(raw, event)
        return self._pass(event_of(msgspec.json.encode(visible)), visible)

    def _read_answer(self) -> HeldAnswer:
        heard = self._reader.close()
        return HeldAnswer(heard.uses, (heard.native,) if heard.native is not None else ())


def forbids(conversation: ParsedRequest) -> bool:
    """Whether the model may call nothing, or only what the client names; several choices hide nothing either."""
    choice = conversation.decode_field("tool_choice")
    several = conversation.decode_field("n")
    is_several = isinstance(several, int) and several > 1
    return choice == "none" or isinstance(choice, Mapping) or is_several


def read(answer: Json, name: str) -> HeldAnswer | None:
    """A whole answer that makes hidden calls and no others."""
    reader = ChatReader()
    for event in whole(answer):
        reader.event(event)
    return hold(reader.close(), name)


def remove(answer: Json, name: str) -> Json:
    """A whole answer without hidden calls."""
    choices: list[Json] = []
    for choice in answer.get("choices") or []:
        message = dict(choice.get("message") or {})
        calls = message.pop("tool_calls", None) or []
        kept = []
        for call in calls:
            if (call.get("function") or {}).get("name") != name:
                kept.append(call)
        if len(kept) == len(calls):
            choices.append(choice)
            continue
        if kept:
            message["tool_calls"] = kept
        choices.append({**choice, "message": message, "finish_reason": "tool_calls" if kept else "stop"})
    return {**answer, "choices": choices}


def join(first: Json, last: Json) -> Json:
    """Two answers as one."""
    joined = {**last, "id": first.get("id"), "usage": sum_reports(first.get("usage"), last.get("usage"))}
    said = ((first.get("choices") or [{}])[0].get("message") or {}).get("content")
    if said and last.get("choices"):
        choice, *others = last["choices"]
        message = choice.get("message") or {}
        text = "\n".join(filter(None, [said, message.get("content")]))
        joined["choices"] = [{**choice, "message": {**message, "content": text}}, *others]
    return joined


def write(answer: HeldAnswer, texts: Sequence[str]) -> list[Json]:
    """The answer, and the results of its calls."""
    results: list[Json] = []
    for call, text in zip(answer.calls, texts, strict=True):
        results.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return [*answer.native, *results]


def _delta(event: Json) -> Json:
    choices = event.get("choices")
    first = first_object(choices)
    delta = as_object(first).get("delta")
    if isinstance(delta, dict):
        return delta
    return {}


def _pieces(delta: Json) -> list[Json]:
    return objects_in(delta.get("tool_calls"))


def _with_delta(event: Json, delta: Json) -> Json:
    first, *others = event["choices"]
    return {**event, "choices": [{**first, "delta": delta}, *others]}


def _with_finish(event: Json, finish: str) -> Json:
    choices = event.get("choices")
    if not choices or choices[0].get("finish_reason") is None:
        return event
    return {**event, "choices": [{**choices[0], "finish_reason": finish}, *choices[1:]]}


HIDDEN_CALLS: Final = HiddenCalls(
    forbids=forbids, stream=HiddenPieceStream, read=read, remove=remove, join=join, write=write
)
