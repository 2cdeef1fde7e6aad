"""Hidden calls in Anthropic's answers: blocks get numbers of ours, so that the client sees none missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.wire.hidden_calls import CallOwner, HeldAnswer, HeldStream, HiddenCalls, hold, sum_reports
from laconic.wire.json_values import as_object
from laconic.wire.messages import Json
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.providers.anthropic.dialect import MessageReader, whole
from laconic.wire.providers.anthropic.usage import USAGE
from laconic.wire.sse import event_of

_BLOCKS: Final = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})


class HiddenBlockStream(HeldStream):
    """A hidden call is a block; all events of a block have its number."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._reader = MessageReader()
        self._hidden: set[object] = set()  # the provider's numbers of hidden blocks
        self._numbers: dict[object, int] = {}  # the provider's numbers of the others -> ours
        self._blocks = 0  # that the client knows of

    def resume(self) -> None:
        super().resume()
        self._reader = MessageReader()
        self._hidden.clear()
        self._numbers.clear()

    def _observe(self, event: Json) -> None:
        self._reader.event(event)
        for name, count in USAGE.collect(event).items():
            self._counters[name] = count

    def _begins_call(self, event: Json) -> CallOwner:
        block = event.get("content_block")
        if event.get("type") != "content_block_start" or not isinstance(block, dict):
            return ""
        if block.get("type") != "tool_use":
            return ""
        if block.get("name") != self._name:
            return "client"
        self._hidden.add(event.get("index"))
        return "hidden"

    def _pass(self, raw: bytes, event: Json) -> bytes:
        kind = event.get("type")
        if kind == "message_start" and self._round:
            return b""
        if kind in _BLOCKS:
            return self._renumber(raw, event)
        if kind == "message_delta" and self._round:
            usage = event.get("usage")
            return _write({**event, "usage": self._add_usage(as_object(usage))})
        return raw

    def _pass_visible(self, raw: bytes, event: Json) -> bytes:
        if event.get("type") in _BLOCKS and event.get("index") in self._hidden:
            return b""
        if event.get("type") == "message_delta" and not self._has_others:
            delta = event.get("delta")
            inner = as_object(delta)
            event = {**event, "delta": {**inner, "stop_reason": "end_turn"}}
            raw = _write(event)
        return self._pass(raw, event)

    def _renumber(self, raw: bytes, event: Json) -> bytes:
        index = event.get("index")
        if event.get("type") == "content_block_start":
            self._numbers[index] = self._blocks
            self._blocks += 1
        number = self._numbers.get(index, index)
        if number == index:
            return raw
        return _write({**event, "index": number})

    def _read_answer(self) -> HeldAnswer:
        heard = self._reader.close()
        calls = tuple(use for use in heard.uses if use.name == self._name)
        return HeldAnswer(calls, (heard.native,) if heard.native is not None else ())


def forbids(conversation: ParsedRequest) -> bool:
    """Whether the model may call nothing, or only what the client names."""
    choice = conversation.decode_field("tool_choice")
    return isinstance(choice, Mapping) and choice.get("type") in {"none", "tool"}


def read(answer: Json, name: str) -> HeldAnswer | None:
    """A whole answer that makes hidden calls and no others."""
    reader = MessageReader()
    for event in whole(answer):
        reader.event(event)
    return hold(reader.close(), name)


def remove(answer: Json, name: str) -> Json:
    """A whole answer without hidden calls."""
    content = answer.get("content")
    if not isinstance(content, list):
        return answer
    kept = []
    for block in content:
        if not _is_hidden(block, name):
            kept.append(block)
    if len(kept) == len(content):
        return answer
    has_calls = any(isinstance(block, dict) and block.get("type") == "tool_use" for block in kept)
    return {**answer, "content": kept, "stop_reason": "tool_use" if has_calls else "end_turn"}


def join(first: Json, last: Json) -> Json:
    """Two answers as one."""
    content = [*(first.get("content") or []), *(last.get("content") or [])]
    return {**last, "id": first.get("id"), "content": content, "usage": sum_reports(first["usage"], last["usage"])}


def write(answer: HeldAnswer, texts: Sequence[str]) -> list[Json]:
    """The answer, and the results of its calls."""
    results: list[Json] = []
    for call, text in zip(answer.calls, texts, strict=True):
        results.append({"type": "tool_result", "tool_use_id": call.id, "content": text})
    return [*answer.native, {"role": "user", "content": results}]


def _is_hidden(block: object, name: str) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use" and block.get("name") == name


def _write(event: Json) -> bytes:
    return event_of(msgspec.json.encode(event), str(event["type"]))


HIDDEN_CALLS: Final = HiddenCalls(
    forbids=forbids, stream=HiddenBlockStream, read=read, remove=remove, join=join, write=write
)
