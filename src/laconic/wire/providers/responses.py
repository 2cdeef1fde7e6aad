"""OpenAI's Responses API: one item per block; reasoning stands directly before what it led to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from laconic.wire.content import JsonObject, call_part, pieces_of, plain_part, result_part, text_part
from laconic.wire.model import BlockLayout, Fault, Kind, Role, Shape
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.prompted.answer import WrittenText, call_id, read_text
from laconic.wire.prompted.calls import PromptedCall, PromptedTool
from laconic.wire.prompted.down import DownStream
from laconic.wire.prompted.parser import CallParser
from laconic.wire.provider_format import Address, DeclaredTool, ProviderFormat, Refusals, ThinkingField, WrittenCalls
from laconic.wire.providers import chat
from laconic.wire.rules import check_paired, ends_answerable, nothing_empty
from laconic.wire.spans import ByteSpan, is_array, is_string
from laconic.wire.speaking.talk import (
    Json,
    Offer,
)
from laconic.wire.sse import event_of
from laconic.wire.usage import Counters, Usage, UsageFields, first_of

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}
_TEXTS: Final = frozenset({"input_text", "output_text", "text"})
_IMAGES: Final = frozenset({"input_image", "input_file", "input_audio", "computer_screenshot"})
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}  # item type -> where its arguments stand
_HOSTED: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "tool_search_call",
        "tool_search_output",
        "compaction",
    }
)


def shape(raw: bytes) -> Shape:
    """One element of `input`, or `input` itself where that is a text."""
    if is_string(raw):
        whole = ByteSpan(0, len(raw))
        return Shape("user", (text_part(raw, "user", whole, whole),), (), "message")
    item = JsonObject(raw)
    kind = item.text("type") or ("message" if "role" in item.fields else "")
    if kind == "message":
        return _message(raw, item)
    return _item(raw, item, kind)


def _message(raw: bytes, item: JsonObject) -> Shape:
    role = _ROLES.get(item.text("role"), "user")
    content = item.fields.get("content")
    if content is None:
        return Shape(role, (), (), "message")
    if is_string(item.raw("content")):
        return Shape(role, (text_part(raw, role, content, content),), (), "message")
    parts = tuple(_element(raw, role, span) for span in item.list("content"))
    return Shape(role, parts, (content,) if is_array(item.raw("content")) else (), "message")


def _element(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    element = JsonObject(raw, span)
    kind = element.text("type")
    if kind in _TEXTS and is_string(element.raw("text")):
        cited = element.raw("annotations") not in {b"", b"[]", b"null"}
        return text_part(raw, role, span, element.fields["text"], list=0, fixed=cited)
    return plain_part(raw, role, "image" if kind in _IMAGES else "opaque", span, list=0)


def _item(raw: bytes, item: JsonObject, kind: str) -> Shape:
    """An item that is one block. A shell or patch call whose arguments are no text is kept whole, but paired."""
    whole, id = item.span, item.text("call_id")
    if kind == "reasoning":
        return Shape("assistant", (plain_part(raw, "assistant", "reasoning", whole, id=item.text("id")),), (), kind)
    if kind.endswith("_output") and (id or kind == "function_call_output"):
        output = item.fields.get("output")
        pieces = pieces_of(raw, item.list("output"), _TEXTS)
        part = result_part(raw, whole, output, pieces, id=id)
        known = kind in {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
        return Shape("tool", (part if known else msgspec.structs.replace(part, fixed=True),), (), kind)
    if kind.endswith("_call") and kind not in _HOSTED and (id or kind in _CALLS):
        arguments = item.fields.get(_CALLS.get(kind, "action"))
        name = item.text("name") or kind.removesuffix("_call")
        part = call_part(raw, "assistant", whole, arguments, id=id, name=name)
        return Shape("assistant", (part if kind in _CALLS else msgspec.structs.replace(part, fixed=True),), (), kind)
    neutral: Kind = "server" if kind in _HOSTED else "opaque"
    role = _ROLES.get(item.text("role"), "assistant")  # Codex hands over tools in an item of the developer
    return Shape(role, (plain_part(raw, role, neutral, whole, id=item.text("id")),), (), kind)


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    element = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return msgspec.json.encode({"type": "message", "role": role, "content": [element]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse. Reasoning must be followed by what it led to."""
    found = [
        *nothing_empty(conversation),
        *check_paired(conversation, adjacent=False),
        *ends_answerable(conversation, prefill=True),
    ]
    turns = conversation.turns
    for turn in turns:
        if turn.native == "reasoning":
            after = turns[turn.index + 1] if turn.index + 1 < len(turns) else None
            if after is None or after.role != "assistant":
                found.append(Fault("thinking", turn.index, "a reasoning item without the item it led to"))
    return found


# calls that a model writes as text


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
    parts = [part for item in said for part in item.get("content") or () if isinstance(part, dict)]
    texts = [part for part in parts if isinstance(part.get("text"), str)]
    read = read_text("\n".join(part["text"] for part in texts), tools, answer.get("status") == "incomplete")
    if read.outcome.calls:
        for part in texts:
            part["text"] = read.outcome.text if part is texts[0] and read.outcome.text.strip() else ""
        for item in said:
            item["content"] = [part for part in item.get("content") or () if part not in texts or part["text"]]
        name = str(answer.get("id"))
        calls = [response_call(call, tools, name, number) for number, call in enumerate(read.outcome.calls)]
        answer["output"] = [item for item in answer["output"] if item not in said or item["content"]] + calls
    return [read]


_BEGIN: Final = frozenset({"response.created", "response.in_progress", "response.queued"})
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_HELD: Final = frozenset({"response.output_text.done", "response.content_part.done", "response.output_item.done"})
_ARGUMENTS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_WORDS: Final = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}


class ResponsesStream(DownStream):
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
            return b"" if self._resumed else self._begin(event)
        if kind in _ENDS:
            return self._end(event)
        if kind == "response.output_item.added":
            return self._start(event)
        if index is not None and index == self._text:
            return self._in_message(kind, event)
        if kind == "response.output_item.done" and index in self._numbers:
            self._items[self._numbers[index]] = event["item"]
        return self._renumber(event) if kind.startswith("response.") else raw

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
        self._items.append(item if isinstance(item, dict) else {})
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
        return self._emit({**event, "output_index": self._open}) if self._open >= 0 else b""

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
        whole = {**(response if isinstance(response, dict) else {}), "output": list(self._items)}
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


# the facts

_FREE: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def declare(tool: Offer) -> Json:
    """A tool as requests declare it."""
    return {"type": "function", "name": tool.name, "description": tool.about, "parameters": tool.schema}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; a custom one takes any text."""
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, Mapping) or not isinstance(name := tool.get("name"), str):
            continue
        schema = tool.get("parameters")
        is_free = schema is None and tool.get("type") == "custom"
        if is_free:
            schema = _FREE
        about = str(tool.get("description") or "")
        yield DeclaredTool(name, about, schema if isinstance(schema, Mapping) else {}, is_free)


def extend_system(given: object, text: str) -> bytes:
    """The instructions with a text behind them."""
    before = given if isinstance(given, str) else ""
    return msgspec.json.encode("\n\n".join(filter(None, [before, text])))


def question(model: str, text: str, tool: Offer, most: int) -> bytes:
    """A request with one tool."""
    asked = {"model": model, "max_output_tokens": most, "input": [{"role": "user", "content": text}]}
    return msgspec.json.encode({**asked, "tools": [declare(tool)]})


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls: whatever grows."""
    delta = event.get("delta")
    return delta if isinstance(delta, str) else ""


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it."""
    if not counters.keys() & {"input_tokens", "output_tokens"}:
        return None
    prompt = first_of(counters, "input_tokens")
    read = min(first_of(counters, "cached_tokens"), prompt)
    written = min(first_of(counters, "cache_write_tokens"), prompt - read)
    return Usage(prompt - read - written, read, written, first_of(counters, "output_tokens"))


FORMAT: Final = ProviderFormat(
    name="responses",
    provider="openai",
    messages=("input",),
    pinned=("tools", "instructions"),
    shape=shape,
    compose=compose,
    faults=faults,
    merged=True,
    chained=("previous_response_id", "conversation"),
    system=("instructions",),
    extend_system=extend_system,
    session=(
        ("prompt_cache_key",),
        ("metadata", "user_id"),
        ("metadata", "session_id"),
        ("metadata", "conversation_id"),
        ("metadata", "thread_id"),
    ),
    thinking=(ThinkingField(("reasoning", "effort"), words=True),),
    output_limits=(("max_output_tokens",),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    usage=UsageFields(
        report="usage",
        places=("response",),
        details={"input_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"})},
        output=("output_tokens",),
        record=record,
    ),
    refusals=Refusals(write=chat.refuse),
    counts_cached=lambda model: True,
    address=Address(path=re.compile("/responses")),
    written_calls=WrittenCalls(rewrite=rewrite, stream=ResponsesStream, question=question),
)
