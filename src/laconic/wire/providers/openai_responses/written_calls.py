"""Calls that a model writes as text, as answers of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

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
from laconic.wire.providers.openai_responses.requests import declare
from laconic.wire.sse import event_of


def response_call(call: PromptedCall, tools: Sequence[PromptedTool], answer: str, number: int) -> dict[str, Any]:
    """A call as an item of the Responses API."""
    id, named = call_id("call", answer, number), {"name": call.name, "status": "completed"}
    if any(tool.free and tool.name == call.name for tool in tools):
        item = {"type": "custom_tool_call", "id": call_id("ctc", answer, number), "call_id": id}
        return {**item, **named, "input": str(call.arguments.get("input", ""))}
    arguments = msgspec.json.encode(call.arguments).decode()
    item = {"type": "function_call", "id": call_id("fc", answer, number), "call_id": id}
    return {**item, **named, "arguments": arguments}


def rewrite(answer: Json, tools: Sequence[PromptedTool]) -> list[WrittenText] | None:
    """A whole answer: its texts are read as one; the first message keeps what is left of them."""
    if not isinstance(answer.get("output"), list):
        return None
    said = [item for item in answer["output"] if isinstance(item, dict) and item.get("type") == "message"]
    parts = []
    for item in said:
        for part in item.get("content") or ():
            if isinstance(part, dict):
                parts.append(part)
    texts = [part for part in parts if isinstance(part.get("text"), str)]
    read = read_text("\n".join(part["text"] for part in texts), tools, answer.get("status") == "incomplete")
    if read.outcome.calls:
        for part in texts:
            part["text"] = read.outcome.text if part is texts[0] and read.outcome.text.strip() else ""
        for item in said:
            item["content"] = [part for part in item.get("content") or () if part not in texts or part["text"]]
        name = str(answer.get("id"))
        calls = []
        for number, call in enumerate(read.outcome.calls):
            calls.append(response_call(call, tools, name, number))
        answer["output"] = [item for item in answer["output"] if item not in said or item["content"]] + calls
    return [read]


_BEGIN: Final = frozenset({"response.created", "response.in_progress", "response.queued"})
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_HELD: Final = frozenset({"response.output_text.done", "response.content_part.done", "response.output_item.done"})
_ARGUMENTS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_WORDS: Final = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}


class ResponsesStream(WrittenCallStream):
    """Items and events get numbers of ours. The last event holds all items as the client has seen them."""

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        super().__init__(tools, retries)
        self._parser = CallParser(tools)
        self._id = ""
        self._sequence = 0  # of the next event
        self._items: list[Json] = []  # by our numbers
        self._numbers: dict[object, int] = {}  # the provider's number of an item that is no message -> ours
        self._text: object = None  # the provider's number of the current message
        self._message: Json = {}  # as the provider began it
        self._open = -1  # our number of the message that is open
        self._said = ""  # in it
        self._left = (0, 0, -1, "")  # events, items, open message and its text when an answer had ended

    def resume(self) -> bytes:
        self._parser = CallParser(self._tools)
        self._numbers.clear()
        self._sequence, items, self._open, self._said = self._left
        del self._items[items:]
        super().resume()
        return self._end_text()

    def _rewrite(self, raw: bytes, event: Json) -> bytes:
        kind, index = str(event.get("type")), event.get("output_index")
        if kind in _BEGIN:
            if self._resumed:
                return b""
            return self._begin(event)
        if kind in _ENDS:
            return self._end(event)
        if kind == "response.output_item.added":
            return self._start(event)
        if index is not None and index == self._text:
            return self._in_message(kind, event)
        if kind == "response.output_item.done" and index in self._numbers:
            self._items[self._numbers[index]] = event["item"]
        if kind.startswith("response."):
            return self._renumber(event)
        return raw

    def _begin(self, event: Json) -> bytes:
        response = event.get("response")
        self._id = self._id or (str(response.get("id")) if isinstance(response, dict) else "")
        return self._emit(event)

    def _start(self, event: Json) -> bytes:
        ended, item = self._end_text(), event.get("item")
        if isinstance(item, dict) and item.get("type") == "message":
            self._text, self._message = event.get("output_index"), item
            return ended
        self._numbers[event.get("output_index")] = len(self._items)
        self._items.append(as_object(item))
        return ended + self._renumber(event)

    def _in_message(self, kind: str, event: Json) -> bytes:
        part = event.get("part")
        if kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            self._written += event["delta"]
            return self._say(self._parser.feed(event["delta"]))
        plain = not isinstance(part, dict) or part.get("type") == "output_text"
        if plain and (kind in _HELD or kind == "response.content_part.added"):
            return b""  # ours are written when the text is known
        if not plain or kind.startswith("response.refusal"):
            return self._pass_refusal(event)
        if self._open >= 0:
            return self._emit({**event, "output_index": self._open})
        return b""

    def _pass_refusal(self, event: Json) -> bytes:
        """A message that is no text passes as it is."""
        if self._open >= 0:
            return self._emit({**event, "output_index": self._open})
        number = self._numbers[self._text] = len(self._items)
        item = {"type": "response.output_item.added", "output_index": number, "item": self._message}
        self._items.append(self._message)
        self._text, self._message = None, {}
        return self._emit(item) + self._renumber(event)

    def _end(self, event: Json) -> bytes:
        truncated = event["type"] != "response.completed"
        outcome = self._parser.close(truncated=truncated)
        self._judge(outcome, truncated=truncated)
        self._left = (self._sequence, len(self._items), self._open, self._said)
        out = [self._say(outcome.text), self._end_text()]
        for number, call in enumerate(outcome.calls):
            out += self._call(response_call(call, self._tools, self._id, number))
        response = event.get("response")
        whole = {**(as_object(response)), "output": list(self._items)}
        if self._id:
            whole["id"] = self._id
        return b"".join([*out, self._emit({**event, "response": whole})])

    def _call(self, item: Json) -> Iterator[bytes]:
        field, word = _ARGUMENTS[item["type"]], _WORDS[item["type"]]
        at = {"output_index": len(self._items), "item_id": item["id"]}
        self._items.append(item)
        begun = {**item, "status": "in_progress", field: ""}
        yield self._emit({"type": "response.output_item.added", "output_index": at["output_index"], "item": begun})
        yield self._emit({"type": f"response.{word}.delta", **at, "delta": item[field]})
        yield self._emit({"type": f"response.{word}.done", **at, "name": item["name"], field: item[field]})
        yield self._emit({"type": "response.output_item.done", "output_index": at["output_index"], "item": item})

    def _say(self, text: str) -> bytes:
        text = self._apart(text)
        if not text:
            return b""
        opened = self._open_text()
        self._said += text
        return opened + self._emit(
            {"type": "response.output_text.delta", **self._place(), "delta": text, "logprobs": []}
        )

    def _open_text(self) -> bytes:
        """The start of a message, once."""
        if self._open >= 0:
            return b""
        self._open, self._said = len(self._items), ""
        own = {"id": call_id("msg", self._id, self._open), "type": "message", "role": "assistant"}
        item = {**own, **self._message, "status": "in_progress", "content": []}
        if any(item["id"] == other.get("id") for other in self._items):
            item["id"] = own["id"]  # the next answer of a server that has the same name for all messages
        self._items.append(item)
        return self._emit(
            {"type": "response.output_item.added", "output_index": self._open, "item": item}
        ) + self._emit({"type": "response.content_part.added", **self._place(), "part": _part("")})

    def _end_text(self) -> bytes:
        """The end of the message that is open, if one is."""
        self._text, self._message = None, {}
        if self._open < 0:
            return b""
        place, part = self._place(), _part(self._said)
        item = {**self._items[self._open], "status": "completed", "content": [part]}
        self._items[self._open], self._open = item, -1
        return b"".join(
            [
                self._emit({"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}),
                self._emit({"type": "response.content_part.done", **place, "part": part}),
                self._emit(
                    {"type": "response.output_item.done", "output_index": place["output_index"], "item": item}
                ),
            ]
        )

    def _place(self) -> Json:
        return {"item_id": self._items[self._open]["id"], "output_index": self._open, "content_index": 0}

    def _renumber(self, event: Json) -> bytes:
        number = self._numbers.get(event.get("output_index"))
        return self._emit(event if number is None else {**event, "output_index": number})

    def _emit(self, event: Json) -> bytes:
        numbered = {**event, "sequence_number": self._sequence}
        self._sequence += 1
        return event_of(msgspec.json.encode(numbered), str(event["type"]))


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def question(model: str, text: str, tool: ToolDefinition, most: int) -> bytes:
    """A request with one tool."""
    asked = {"model": model, "max_output_tokens": most, "input": [{"role": "user", "content": text}]}
    return msgspec.json.encode({**asked, "tools": [declare(tool)]})
