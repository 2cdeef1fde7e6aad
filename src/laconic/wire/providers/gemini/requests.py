"""Requests of Gemini's generateContent: messages, tools and system prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from laconic.wire.content import JsonObject, call_part, plain_part, result_part, text_part
from laconic.wire.json_spans import ByteSpan, is_array, is_object, is_string
from laconic.wire.json_values import as_list, as_object
from laconic.wire.messages import (
    Json,
    ToolDefinition,
)
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.provider_format import DeclaredTool
from laconic.wire.request_rules import check_paired, ends_answerable, nothing_empty, starts_with_user
from laconic.wire.turns_and_blocks import Block, BlockElement, BlockLayout, Fault, MessageShape, Role

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool", "system": "system"}
_IMAGES: Final = ("inlineData", "inline_data", "fileData", "file_data")
_HOSTED: Final = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")


def shape(raw: bytes) -> MessageShape:
    """One element of `contents`."""
    content = JsonObject(raw)
    native = content.text("role")
    role = _ROLES.get(native, "user")
    parts = tuple(_part(raw, role, span) for span in content.list("parts"))
    if parts and all(part.kind == "result" for part in parts):
        role = "tool"
    return MessageShape(role, parts, (content.fields["parts"],) if is_array(content.raw("parts")) else (), native)


def _part(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    part = JsonObject(raw, span)
    call, response = part.first("functionCall", "function_call"), part.first("functionResponse", "function_response")
    if is_object(part.raw(call)):
        return _call(raw, role, part, part.inner(call))
    if is_object(part.raw(response)):
        return _response(raw, span, part.inner(response))
    if part.raw("thought") == b"true":
        return plain_part(raw, role, "thinking", span, list=0)
    if is_string(part.raw("text")):
        return text_part(raw, role, span, part.fields["text"], list=0, fixed=_is_signed_part(part))
    if any(name in part.fields for name in _IMAGES):
        return plain_part(raw, role, "image", span, list=0)
    return plain_part(raw, role, "server" if any(name in part.fields for name in _HOSTED) else "opaque", span, list=0)


def _call(raw: bytes, role: Role, part: JsonObject, inner: JsonObject) -> BlockLayout:
    """A signed call is never edited: its signature speaks for what it is."""
    made = call_part(
        raw, role, part.span, inner.fields.get("args"), id=inner.text("id"), name=inner.text("name"), list=0
    )
    if _is_signed_part(part):
        return msgspec.structs.replace(made, fixed=True)
    return made


def _is_signed_part(part: JsonObject) -> bool:
    return bool(part.raw("thoughtSignature") or part.raw("thought_signature"))


def _response(raw: bytes, span: ByteSpan, inner: JsonObject) -> BlockLayout:
    """A result is an object; where it holds one text, that is what we read and replace."""
    fields = inner.inner("response")
    values = list(fields.fields.values())
    single = len(values) == 1 and is_string(values[0].of(raw))
    return result_part(
        raw,
        span,
        inner.fields.get("response"),
        (BlockElement(fields.span, values[0]),) if single else (),
        id=inner.text("id"),
        name=inner.text("name"),
        error="error" in fields.fields,
        list=0,
    )


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]})


def append_text(message: bytes, text: str) -> bytes:
    """A content with a text behind all of its parts."""
    held = msgspec.json.decode(message)
    return msgspec.json.encode({**held, "parts": [*held["parts"], {"text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    found = [
        *starts_with_user(conversation),
        *nothing_empty(conversation),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]
    for before, turn in zip(conversation.turns, conversation.turns[1:], strict=False):
        if turn.role == "assistant" == before.role and any(block.kind == "call" for block in turn.blocks):
            found.append(Fault("order", turn.index, "a call must follow a user turn or the results of other calls"))
    for turn in conversation.turns:
        calls = []
        for block in turn.blocks:
            if block.kind == "call":
                calls.append(block)
        if any(is_signed(call) for call in calls[1:]) and not is_signed(calls[0]):
            found.append(Fault("thinking", turn.index, "the first call of the turn has lost its signature"))
    return found


def is_signed(block: Block) -> bool:
    """Whether a part carries a thought signature."""
    return _is_signed_part(JsonObject(block.raw))


def declare_function(tool: ToolDefinition) -> Json:
    """A function, as groups of them hold it."""
    return {"name": tool.name, "description": tool.about, "parameters": tool.schema}


def declare(tool: ToolDefinition) -> Json:
    """A tool as requests declare it: a group of one."""
    return {"functionDeclarations": [declare_function(tool)]}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; they come in groups."""
    for group in as_list(tools):
        if not isinstance(group, Mapping):
            continue
        declared = group.get("functionDeclarations", group.get("function_declarations"))
        for tool in as_list(declared):
            if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str):
                schema = tool.get("parameters")
                about = str(tool.get("description") or "")
                yield DeclaredTool(name, about, as_object(schema))


def extend_system(given: object, text: str) -> bytes:
    """The system prompt with a text behind it."""
    parts = as_object(given).get("parts")
    before = as_list(parts)
    return msgspec.json.encode({"parts": [*before, {"text": text}]})
