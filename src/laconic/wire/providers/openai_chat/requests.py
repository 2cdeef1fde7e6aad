"""Requests of OpenAI's chat completions: messages, tools and system prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from laconic.wire.content import JsonObject, call_part, pieces_of, plain_part, result_part, text_part
from laconic.wire.json_spans import ByteSpan, is_array, is_object, is_string
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
    "function": "tool",
}
_KINDS: Final[dict[str, Kind]] = {
    "image_url": "image",
    "input_audio": "image",
    "file": "image",
    "thinking": "thinking",
}
_TEXTS: Final = frozenset({"text"})
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


def shape(raw: bytes) -> MessageShape:
    """One element of `messages`."""
    message = JsonObject(raw)
    native = message.text("role")
    role = _ROLES.get(native, "user")
    if role == "tool":
        return MessageShape(role, (_result(raw, message),), (), native)
    parts: list[BlockLayout] = []
    lists: list[ByteSpan] = []
    content = message.fields.get("content")
    if content is not None and is_string(message.raw("content")):
        parts.append(text_part(raw, role, content, content))
    elif content is not None and is_array(message.raw("content")):
        lists.append(content)
        parts += [_element(raw, role, span) for span in message.list("content")]
    if role == "assistant":
        parts += _reasoning(raw, message)
        if calls := message.list("tool_calls"):
            lists.append(message.fields["tool_calls"])
            parts += [_call(raw, span, len(lists) - 1) for span in calls]
        if is_object(message.raw("function_call")):
            parts.append(_legacy_call(raw, message.fields["function_call"]))
    return MessageShape(role, tuple(sorted(parts, key=lambda part: part.span)), tuple(lists), native)


def _result(raw: bytes, message: JsonObject) -> BlockLayout:
    return result_part(
        raw,
        message.span,
        message.fields.get("content"),
        pieces_of(raw, message.list("content"), _TEXTS),
        id=message.text("tool_call_id"),
        name=message.text("name"),
    )


def _element(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    item = JsonObject(raw, span)
    kind = item.text("type")
    if kind == "text" and is_string(item.raw("text")):
        return text_part(raw, role, span, item.fields["text"], list=0)
    return plain_part(raw, role, _KINDS.get(kind, "opaque"), span, list=0)


def _reasoning(raw: bytes, message: JsonObject) -> list[BlockLayout]:
    written = []
    for name in _REASONING:
        if message.raw(name) not in {b"", b"null", b'""', b"[]"}:
            written.append(message.fields[name])
    found = []
    for span in written:
        found.append(plain_part(raw, "assistant", "reasoning", span))
    return found


def _call(raw: bytes, span: ByteSpan, list: int) -> BlockLayout:
    call = JsonObject(raw, span)
    inner = call.inner(call.first("function", "custom"))
    arguments = inner.fields.get(inner.first("arguments", "input"))
    return call_part(raw, "assistant", span, arguments, id=call.text("id"), name=inner.text("name"), list=list)


def _legacy_call(raw: bytes, span: ByteSpan) -> BlockLayout:
    call = JsonObject(raw, span)
    return call_part(raw, "assistant", span, call.fields.get("arguments"), id="", name=call.text("name"))


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": role, "content": text})


def append_text(message: bytes, text: str) -> bytes:
    """A message with a text behind its content."""
    held = msgspec.json.decode(message)
    content = held["content"]
    if isinstance(content, str):
        return msgspec.json.encode({**held, "content": f"{content}\n\n{text}"})
    return msgspec.json.encode({**held, "content": [*content, {"type": "text", "text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    return [
        *nothing_empty(conversation, beside_calls=True),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]


_FREE: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def declare(tool: ToolDefinition) -> Json:
    """A tool as requests declare it."""
    function = {"name": tool.name, "description": tool.about, "parameters": tool.schema}
    return {"type": "function", "function": function}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; a custom one takes any text."""
    for tool in as_list(tools):
        if not isinstance(tool, Mapping):
            continue
        inner = next((tool[key] for key in ("function", "custom") if isinstance(tool.get(key), Mapping)), tool)
        schema = inner.get("parameters")
        is_free = schema is None and tool.get("type") == "custom"
        if is_free:
            schema = _FREE
        if isinstance(name := inner.get("name"), str):
            about = str(inner.get("description") or "")
            yield DeclaredTool(name, about, as_object(schema), is_free)
