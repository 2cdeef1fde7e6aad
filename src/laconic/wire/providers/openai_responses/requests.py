"""Requests of OpenAI's Responses API: messages, tools and system prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from laconic.wire.content import JsonObject, call_part, pieces_of, plain_part, result_part, text_part
from laconic.wire.json_spans import ByteSpan, is_array, is_string
from laconic.wire.json_values import as_list, as_object
from laconic.wire.messages import (
    Json,
    ToolDefinition,
)
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.provider_format import DeclaredTool
from laconic.wire.request_rules import check_paired, ends_answerable, nothing_empty
from laconic.wire.turns_and_blocks import BlockLayout, Fault, Kind, MessageShape, Role

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


def shape(raw: bytes) -> MessageShape:
    """One element of `input`, or `input` itself where that is a text."""
    if is_string(raw):
        whole = ByteSpan(0, len(raw))
        return MessageShape("user", (text_part(raw, "user", whole, whole),), (), "message")
    item = JsonObject(raw)
    kind = item.text("type") or ("message" if "role" in item.fields else "")
    if kind == "message":
        return _message(raw, item)
    return _item(raw, item, kind)


def _message(raw: bytes, item: JsonObject) -> MessageShape:
    role = _ROLES.get(item.text("role"), "user")
    content = item.fields.get("content")
    if content is None:
        return MessageShape(role, (), (), "message")
    if is_string(item.raw("content")):
        return MessageShape(role, (text_part(raw, role, content, content),), (), "message")
    parts = tuple(_element(raw, role, span) for span in item.list("content"))
    return MessageShape(role, parts, (content,) if is_array(item.raw("content")) else (), "message")


def _element(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    element = JsonObject(raw, span)
    kind = element.text("type")
    if kind in _TEXTS and is_string(element.raw("text")):
        cited = element.raw("annotations") not in {b"", b"[]", b"null"}
        return text_part(raw, role, span, element.fields["text"], list=0, fixed=cited)
    return plain_part(raw, role, "image" if kind in _IMAGES else "opaque", span, list=0)


def _item(raw: bytes, item: JsonObject, kind: str) -> MessageShape:
    """An item that is one block. A shell or patch call whose arguments are no text is kept whole, but paired."""
    whole, id = item.span, item.text("call_id")
    if kind == "reasoning":
        return MessageShape(
            "assistant", (plain_part(raw, "assistant", "reasoning", whole, id=item.text("id")),), (), kind
        )
    if kind.endswith("_output") and (id or kind == "function_call_output"):
        output = item.fields.get("output")
        pieces = pieces_of(raw, item.list("output"), _TEXTS)
        part = result_part(raw, whole, output, pieces, id=id)
        known = kind in {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
        return MessageShape("tool", (part if known else msgspec.structs.replace(part, fixed=True),), (), kind)
    if kind.endswith("_call") and kind not in _HOSTED and (id or kind in _CALLS):
        arguments = item.fields.get(_CALLS.get(kind, "action"))
        name = item.text("name") or kind.removesuffix("_call")
        part = call_part(raw, "assistant", whole, arguments, id=id, name=name)
        return MessageShape(
            "assistant", (part if kind in _CALLS else msgspec.structs.replace(part, fixed=True),), (), kind
        )
    neutral: Kind = "server" if kind in _HOSTED else "opaque"
    role = _ROLES.get(item.text("role"), "assistant")  # Codex hands over tools in an item of the developer
    return MessageShape(role, (plain_part(raw, role, neutral, whole, id=item.text("id")),), (), kind)


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
            if turn.index + 1 < len(turns):
                after = turns[turn.index + 1]
            else:
                after = None
            if after is None or after.role != "assistant":
                found.append(Fault("thinking", turn.index, "a reasoning item without the item it led to"))
    return found


_FREE: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def declare(tool: ToolDefinition) -> Json:
    """A tool as requests declare it."""
    return {"type": "function", "name": tool.name, "description": tool.about, "parameters": tool.schema}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; a custom one takes any text."""
    for tool in as_list(tools):
        if not isinstance(tool, Mapping) or not isinstance(name := tool.get("name"), str):
            continue
        schema = tool.get("parameters")
        is_free = schema is None and tool.get("type") == "custom"
        if is_free:
            schema = _FREE
        about = str(tool.get("description") or "")
        yield DeclaredTool(name, about, as_object(schema), is_free)


def extend_system(given: object, text: str) -> bytes:
    """The instructions with a text behind them."""
    before = ""
    if isinstance(given, str):
        before = given
    return msgspec.json.encode("\n\n".join(filter(None, [before, text])))
