"""Requests of Anthropic's Messages API: messages, tools and system prompt."""

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
from laconic.wire.request_rules import check_paired, ends_answerable, nothing_empty, starts_with_user
from laconic.wire.turns_and_blocks import BlockLayout, Fault, Kind, MessageShape, Role

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_KINDS: Final[dict[str, Kind]] = {
    "image": "image",
    "thinking": "thinking",
    "redacted_thinking": "redacted",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
    "mcp_tool_result": "server",
}
_TEXTS: Final = frozenset({"text"})
_TOOL_REFERENCE: Final = b'"tool_reference"'


def shape(raw: bytes) -> MessageShape:
    """One element of `messages`."""
    message = JsonObject(raw)
    native = message.text("role")
    role = _ROLES.get(native, "user")
    content = message.fields.get("content")
    if content is None:
        return MessageShape(role, (), (), native)
    if is_string(message.raw("content")):
        return MessageShape(role, (text_part(raw, role, content, content),), (), native)
    parts = tuple(_part(raw, role, span) for span in message.list("content"))
    return MessageShape(role, parts, (content,) if is_array(message.raw("content")) else (), native)


def _part(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    block = JsonObject(raw, span)
    kind = block.text("type")
    if kind == "text" and is_string(block.raw("text")):
        return text_part(raw, role, span, block.fields["text"], list=0, fixed="citations" in block.fields)
    if kind == "tool_use":
        return call_part(
            raw, role, span, block.fields.get("input"), id=block.text("id"), name=block.text("name"), list=0
        )
    if kind == "tool_result":
        return result_part(
            raw,
            span,
            block.fields.get("content"),
            pieces_of(raw, block.list("content"), _TEXTS),
            id=block.text("tool_use_id"),
            error=block.raw("is_error") == b"true",
            fixed=_loads_tools(raw, block),
            list=0,
        )
    neutral: Kind = "server" if kind.endswith("_tool_result") else _KINDS.get(kind, "opaque")
    return plain_part(raw, role, neutral, span, id=block.text("id"), name=block.text("name"), list=0)


def _loads_tools(raw: bytes, result: JsonObject) -> bool:
    """Whether a result names tools: the model can call them only as long as it is sent."""
    if _TOOL_REFERENCE not in result.raw("content"):
        return False
    return any(JsonObject(raw, span).text("type") == "tool_reference" for span in result.list("content"))


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": role, "content": [{"type": "text", "text": text}]})


def append_text(message: bytes, text: str) -> bytes:
    """A message with a text behind all of its blocks."""
    held = msgspec.json.decode(message)
    content = held["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return msgspec.json.encode({**held, "content": [*content, {"type": "text", "text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    found = [
        *starts_with_user(conversation),
        *nothing_empty(conversation),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]
    for turn in conversation.turns:
        kinds = []
        for block in turn.blocks:
            kinds.append(block.kind)
        if "result" in kinds and turn.role != "user":
            found.append(Fault("role", turn.index, "a tool_result outside a user message"))
        if "call" in kinds and turn.role != "assistant":
            found.append(Fault("role", turn.index, "a tool_use outside an assistant message"))
        if {"thinking", "redacted"} & set(kinds) and turn.role != "assistant":
            found.append(Fault("thinking", turn.index, "thinking outside an assistant message"))
        if "result" in kinds and any(kind != "result" for kind in kinds[: kinds.index("result")]):
            found.append(Fault("order", turn.index, "tool_result blocks must come first in their message"))
    return found


def declare(tool: ToolDefinition) -> Json:
    """A tool as requests declare it."""
    return {"name": tool.name, "description": tool.about, "input_schema": tool.schema}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request."""
    for tool in as_list(tools):
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str):
            schema = tool.get("input_schema")
            about = str(tool.get("description") or "")
            yield DeclaredTool(name, about, as_object(schema))


def extend_system(given: object, text: str) -> bytes:
    """The system prompt with a text behind it."""
    blocks: list[object] = []
    if isinstance(given, list):
        blocks = given
    elif given:
        blocks = [{"type": "text", "text": given}]
    return msgspec.json.encode([*blocks, {"type": "text", "text": text}])
