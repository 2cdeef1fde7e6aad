"""The way up: tools become an instruction, calls and results in the history become text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from laconic.wire.json_spans import members
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.prompted_tool_calls.calls import PromptedTool, UnusableCalls
from laconic.wire.provider_format import DeclaredTool
from laconic.wire.turns_and_blocks import Block, Turn

_GONE: Final = frozenset(
    {
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_tool_calls",
        "functions",
        "function_call",
        "toolConfig",
        "tool_config",
    }
)
_INTRO: Final = """\
You can use the tools below. To call one, write a fenced block that holds one JSON object and nothing else:

```tool
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```

Several calls: several blocks. End your message after the last one; the results come in the next message. Write valid
JSON: line breaks in strings as \\n, quotes as \\". When you need no tool, answer in plain text.

Tools:"""

_WRONG: Final[Mapping[str, str]] = {  # by the reason that a call is broken for
    "truncated": "the JSON of {name} does not end.",
    "not-json": "the block does not contain valid JSON.",
    "unknown-tool": "there is no tool {name}. There are: {known}.",
    "arguments": "the arguments of {name} are not an object with what its schema requires.",
    "batch": "{name} came with a call that cannot be used.",
}
_AGAIN: Final = """\
Write every call again, each as one fenced block with one JSON object, or answer in plain text:

```tool
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```"""


def tools_of(conversation: ParsedRequest) -> list[PromptedTool]:
    """The tools that a request offers, in any format."""
    found: list[PromptedTool] = []
    for tool in declared_tools(conversation):
        properties, required = _keys(tool.schema, "properties"), _keys(tool.schema, "required")
        found.append(PromptedTool(tool.name, frozenset(properties), frozenset(required), tool.free))
    return found


def declared_tools(conversation: ParsedRequest) -> list[DeclaredTool]:
    """The same as they are declared."""
    return list(conversation.format.read_tools(conversation.decode_field("tools")))


def instruction(conversation: ParsedRequest) -> str:
    """What a model without function calling has to know."""
    lines = [_INTRO]
    for tool in declared_tools(conversation):
        written = msgspec.json.encode(tool.schema).decode()
        lines.append(f"- {tool.name}: {tool.about.strip()}\n  arguments: {written}")
    return "\n".join(lines)


def upward(conversation: ParsedRequest) -> bytes:
    """The request without tools. Messages that hold no call, no result and no system prompt keep their bytes."""
    messages = list(_messages(conversation))
    pairs = []
    seen = False
    for member in members(conversation.body):
        if member.key in _GONE:
            continue
        raw = member.value.of(conversation.body)
        if member.key in conversation.format.messages:
            raw = b"[" + b",".join(messages) + b"]"
        elif member.key in conversation.format.system:
            raw, seen = _with_instruction(conversation, member.key), True
        pairs.append(msgspec.json.encode(member.key) + b":" + raw)
    if (fields := conversation.format.system) and not seen:
        pairs.append(msgspec.json.encode(fields[0]) + b":" + _with_instruction(conversation, fields[0]))
    return b"{" + b",".join(pairs) + b"}"


def add_correction(conversation: ParsedRequest, nonsense: UnusableCalls, tools: Sequence[PromptedTool]) -> bytes:
    """The request with the model's useless answer behind it, and what is wrong with that."""
    known = ", ".join(tool.name for tool in tools)
    wrong = []
    for one in nonsense.broken:
        wrong.append(_WRONG[one.reason].format(name=one.name or "the call", known=known))
    said = " ".join(dict.fromkeys(wrong))
    more = [
        conversation.format.compose("assistant", nonsense.written),
        conversation.format.compose("user", f"No tool was called: {said}\n{_AGAIN}"),
    ]
    pairs = []
    for member in members(conversation.body):
        raw = member.value.of(conversation.body)
        if member.key in conversation.format.messages:
            raw = b",".join([raw.rstrip().removesuffix(b"]"), *more]) + b"]"
        pairs.append(msgspec.json.encode(member.key) + b":" + raw)
    return b"{" + b",".join(pairs) + b"}"


def call_text(name: str, arguments: object) -> str:
    """A call as the instruction asks for it."""
    written = msgspec.json.encode({"name": name, "arguments": arguments}).decode()
    return f"```tool\n{written}\n```"


def result_text(name: str, id: str, text: str, error: bool) -> str:
    """A result, marked as one."""
    outcome = "returned"
    if error:
        outcome = "failed"
    return f"[{name or 'tool'} {outcome}{f' ({id})' if id else ''}]\n{text}"


def _messages(conversation: ParsedRequest) -> Iterator[bytes]:
    """Results that follow each other become one message of the user: many models want roles to alternate."""
    names = {}
    for exchange in conversation.exchanges:
        for call in exchange.calls:
            names[call.id] = call.name
    role, waiting = "", list[str]()  # whose texts wait to become one message
    if not conversation.format.system:
        yield from _chat_system(conversation)
    for turn in conversation.turns:
        if _is_first_system(conversation, turn):
            continue
        calls = conversation.format.merged and any(block.kind == "call" for block in turn.blocks)
        now = "assistant" if calls else ""
        if turn.role == "tool":
            now = "user"
        if waiting and now != role:
            yield conversation.format.compose(role, "\n\n".join(waiting))
            waiting = []
        role = now
        if role:
            waiting += _texts(turn, names)
        else:
            yield _turn(conversation, turn, names)
    if waiting:
        yield conversation.format.compose(role, "\n\n".join(waiting))


def _turn(conversation: ParsedRequest, turn: Turn, names: Mapping[str, str]) -> bytes:
    if all(block.kind not in {"call", "result"} for block in turn.blocks):
        # A prompt that is one text stands in a list now, beside others.
        if conversation.array is None:
            return conversation.format.compose("user", turn.blocks[0].text)
        return turn.raw
    if turn.role == "assistant":
        role = "assistant"
    else:
        role = turn.native
    return conversation.format.compose(role, "\n\n".join(_texts(turn, names)))


def _texts(turn: Turn, names: Mapping[str, str]) -> Iterator[str]:
    for block in turn.blocks:
        if block.kind == "call":
            yield call_text(block.name, {"input": block.text} if turn.native == "custom_tool_call" else block.input)
        elif block.kind == "result":
            yield _result(block, names)
        elif block.kind == "text" and block.text.strip():
            yield block.text


def _result(block: Block, names: Mapping[str, str]) -> str:
    return result_text(block.name or names.get(block.id, ""), block.id, block.text, block.error)


def _message(role: str, text: str) -> bytes:
    return msgspec.json.encode({"role": role, "content": text})


def _is_first_system(conversation: ParsedRequest, turn: Turn) -> bool:
    return not conversation.format.system and turn.index == 0 and turn.role == "system"


def _chat_system(conversation: ParsedRequest) -> Iterator[bytes]:
    if conversation.turns:
        first = conversation.turns[0]
    else:
        first = None
    text = instruction(conversation)
    if first is not None and first.role == "system":
        text = "\n\n".join([*(block.text for block in first.blocks), text])
    yield _message(first.native if first is not None and first.role == "system" else "system", text)


def _with_instruction(conversation: ParsedRequest, field: str) -> bytes:
    """A system prompt that is a field of its own, with the instruction behind it."""
    extend = conversation.format.extend_system
    assert extend is not None
    return extend(conversation.decode_field(field), instruction(conversation))


def _keys(schema: Mapping[str, object], name: str) -> list[str]:
    inner = schema.get(name)
    if isinstance(inner, Mapping | list):
        found = []
        for key in inner:
            found.append(str(key))
        return found
    return []
