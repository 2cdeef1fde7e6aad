"""Hidden calls in answers of the Responses API: items get numbers of ours, and the last event has all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.wire.hidden_calls import CallOwner, HeldAnswer, HeldStream, HiddenCalls, sum_reports
from laconic.wire.json_values import as_object, objects_in
from laconic.wire.messages import Json, ModelCall, decode_arguments
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.sse import event_of

_BEGIN: Final = frozenset({"response.created", "response.in_progress", "response.queued"})
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"})


class HiddenItemStream(HeldStream):
    """A hidden call is an item; all events of an item have its number."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._items: dict[object, Json] = {}  # of this answer, by the provider's number
        self._hidden: set[object] = set()
        self._numbers: dict[object, int] = {}  # the provider's numbers -> ours
        self._passed: list[Json] = []  # items that the client knows of
        self._ids: dict[object, object] = {}  # of items of this answer: the provider's -> those that the client sees
        self._sequence = 0
        self._id: object = None
        self._report: Json = {}  # of usage, of all answers so far
        self._latest: Json = {}

    def resume(self) -> None:
        super().resume()
        self._items.clear()
        self._hidden.clear()
        self._numbers.clear()
        self._ids.clear()
        self._report, self._latest = sum_reports(self._report, self._latest), {}

    def _observe(self, event: Json) -> None:
        item, response = event.get("item"), event.get("response")
        if event.get("type") == "response.output_item.done" and isinstance(item, dict):
            self._items[event.get("output_index")] = item
        if isinstance(response, dict):
            self._id = self._id or response.get("id")
            if isinstance(response.get("usage"), dict):
                self._latest = response["usage"]

    def _begins_call(self, event: Json) -> CallOwner:
        item = event.get("item")
        if event.get("type") != "response.output_item.added" or not isinstance(item, dict):
            return ""
        if item.get("type") not in _CALLS:
            return ""
        if item.get("name") != self._name:
            return "client"
        self._hidden.add(event.get("output_index"))
        return "hidden"

    def _pass(self, raw: bytes, event: Json) -> bytes:
        kind, index = event.get("type"), event.get("output_index")
        if kind in _BEGIN and self._round:
            return b""
        passed = self._with_own_ids(event)
        if kind == "response.output_item.added":
            self._numbers[index] = len(self._passed)
            self._passed.append(passed["item"])
        if index in self._numbers:
            passed["output_index"] = self._numbers[index]
            if kind == "response.output_item.done":
                self._passed[self._numbers[index]] = passed["item"]
        if kind in _ENDS and (self._round or self._hidden):
            passed["response"] = self._whole_response(event)
        if self._round or self._hidden:
            passed["sequence_number"] = self._sequence
        else:
            self._sequence = int(event.get("sequence_number") or self._sequence)
        self._sequence += 1
        if passed == event:
            return raw
        return event_of(msgspec.json.encode(passed), str(kind))

    def _with_own_ids(self, event: Json) -> Json:
        """Some servers give the items of every answer the same ids: the client must not see one twice."""
        passed, item = dict(event), event.get("item")
        if event.get("type") == "response.output_item.added" and isinstance(item, dict):
            is_taken = any(item.get("id") == other.get("id") for other in self._passed)
            self._ids[item.get("id")] = f"{item.get('id')}_{self._round}" if is_taken else item.get("id")
        if isinstance(item, dict) and item.get("id") in self._ids:
            passed["item"] = {**item, "id": self._ids[item.get("id")]}
        if event.get("item_id") in self._ids:
            passed["item_id"] = self._ids[event.get("item_id")]
        return passed

    def _pass_visible(self, raw: bytes, event: Json) -> bytes:
        if "output_index" in event and event["output_index"] in self._hidden:
            return b""
        return self._pass(raw, event)

    def _whole_response(self, event: Json) -> Json:
        response = event.get("response")
        inner = as_object(response)
        usage = sum_reports(self._report, inner.get("usage"))
        return {**inner, "id": self._id, "output": list(self._passed), "usage": usage}

    def _read_answer(self) -> HeldAnswer:
        items = [item for _, item in sorted(self._items.items(), key=lambda pair: str(pair[0]).zfill(9))]
        return HeldAnswer(tuple(_call_of(item) for item in items if _is_hidden(item, self._name)), tuple(items))


def forbids(conversation: ParsedRequest) -> bool:
    """Whether the model may call nothing, or only what the client names."""
    choice = conversation.decode_field("tool_choice")
    return choice == "none" or isinstance(choice, Mapping)


def read(answer: Json, name: str) -> HeldAnswer | None:
    """A whole answer that makes hidden calls and no others."""
    items = _items(answer)
    calls = []
    for item in items:
        if item.get("type") in _CALLS:
            calls.append(item)
    if not calls or any(not _is_hidden(call, name) for call in calls):
        return None
    return HeldAnswer(tuple(_call_of(call) for call in calls), tuple(items))


def remove(answer: Json, name: str) -> Json:
    """A whole answer without hidden calls."""
    return {**answer, "output": [item for item in _items(answer) if not _is_hidden(item, name)]}


def join(first: Json, last: Json) -> Json:
    """Two answers as one."""
    usage = sum_reports(first.get("usage"), last.get("usage"))
    return {**last, "id": first.get("id"), "output": [*_items(first), *_items(last)], "usage": usage}


def write(answer: HeldAnswer, texts: Sequence[str]) -> list[Json]:
    """The answer, and the results of its calls."""
    results: list[Json] = []
    for call, text in zip(answer.calls, texts, strict=True):
        results.append({"type": "function_call_output", "call_id": call.id, "output": text})
    return [*answer.native, *results]


def _items(answer: Json) -> list[Json]:
    return objects_in(answer.get("output"))


def _is_hidden(item: Json, name: str) -> bool:
    return item.get("type") == "function_call" and item.get("name") == name


def _call_of(item: Json) -> ModelCall:
    arguments, broken = decode_arguments(str(item.get("arguments") or ""), truncated=False)
    return ModelCall(str(item.get("name")), arguments, str(item.get("call_id") or ""), broken)


HIDDEN_CALLS: Final = HiddenCalls(
    forbids=forbids, stream=HiddenItemStream, read=read, remove=remove, join=join, write=write
)
