"""The way down, whole answers: the text of a model becomes the calls that its client understands."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.prompted.calls import Broken, Nonsense, PromptedCall, PromptedTool
from laconic.wire.prompted.parser import CallParser, ParsedAnswer
from laconic.wire.spans import value


class Read(msgspec.Struct, frozen=True):
    """An answer as the client gets it, and what was wrong with its calls."""

    body: bytes
    broken: tuple[Broken, ...] = ()
    nonsense: Nonsense | None = None  # none of the calls can be used, and the model was not cut off


def downward(format: str, body: bytes, tools: Sequence[PromptedTool]) -> Read:
    """The answer with calls instead of text; an answer of another form (an error, say) stays as it is."""
    try:
        answer = value(body)
    except MalformedRequest:
        return Read(body)
    if not isinstance(answer, dict):
        return Read(body)
    if format == "anthropic" and isinstance(answer.get("content"), list):
        texts = [_anthropic(answer, tools)]
    elif format == "chat" and isinstance(answer.get("choices"), list):
        texts = _chat(answer, tools)
    elif format == "responses" and isinstance(answer.get("output"), list):
        texts = [_responses(answer, tools)]
    else:
        return Read(body)
    broken = tuple(one for text in texts for one in text.outcome.broken)
    alone = texts[0] if len(texts) == 1 else None
    useless = alone is not None and alone.outcome.useless and not alone.truncated
    nonsense = Nonsense(alone.written, broken) if alone is not None and useless else None
    return Read(msgspec.json.encode(answer), broken, nonsense)


class _Text(msgspec.Struct, frozen=True):
    """One text of a model, read."""

    written: str
    truncated: bool
    outcome: ParsedAnswer


def call_id(prefix: str, answer: str, number: int) -> str:
    """An id that is the same whenever the same answer is read."""
    return f"{prefix}_{sha256(f'{answer}/{number}'.encode()).hexdigest()[:24]}"


def chat_call(call: PromptedCall, answer: str, number: int) -> dict[str, Any]:
    """A call in chat completions."""
    arguments = msgspec.json.encode(call.arguments).decode()
    return {
        "id": call_id("call", answer, number),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def response_call(call: PromptedCall, tools: Sequence[PromptedTool], answer: str, number: int) -> dict[str, Any]:
    """A call as an item of the Responses API."""
    id, named = call_id("call", answer, number), {"name": call.name, "status": "completed"}
    if any(tool.free and tool.name == call.name for tool in tools):
        item = {"type": "custom_tool_call", "id": call_id("ctc", answer, number), "call_id": id}
        return {**item, **named, "input": str(call.arguments.get("input", ""))}
    arguments = msgspec.json.encode(call.arguments).decode()
    item = {"type": "function_call", "id": call_id("fc", answer, number), "call_id": id}
    return {**item, **named, "arguments": arguments}


def _chat(answer: dict[str, Any], tools: Sequence[PromptedTool]) -> list[_Text]:
    texts: list[_Text] = []
    for choice in answer["choices"]:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            continue
        texts.append(_read(message["content"], tools, choice.get("finish_reason") == "length"))
        outcome = texts[-1].outcome
        if outcome.calls:
            message["content"] = outcome.text if outcome.text.strip() else None
            name = f"{answer.get('id')}/{choice.get('index', 0)}"
            message["tool_calls"] = [chat_call(call, name, number) for number, call in enumerate(outcome.calls)]
            choice["finish_reason"] = "tool_calls"
    return texts


def _anthropic(answer: dict[str, Any], tools: Sequence[PromptedTool]) -> _Text:
    content = answer["content"]
    texts = [block for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)]
    written = "\n".join(block["text"] for block in texts)
    read = _read(written, tools, answer.get("stop_reason") == "max_tokens")
    outcome = read.outcome
    if outcome.calls:
        kept = [block for block in content if block not in texts]
        text = [{"type": "text", "text": outcome.text}] if outcome.text.strip() else []
        uses = [
            {
                "type": "tool_use",
                "id": call_id("toolu", str(answer.get("id")), number),
                "name": call.name,
                "input": call.arguments,
            }
            for number, call in enumerate(outcome.calls)
        ]
        answer["content"] = [*kept, *text, *uses]
        answer["stop_reason"] = "tool_use"
    return read


def _responses(answer: dict[str, Any], tools: Sequence[PromptedTool]) -> _Text:
    """Its texts are read as one; the first message keeps what is left of them."""
    said = [item for item in answer["output"] if isinstance(item, dict) and item.get("type") == "message"]
    parts = [part for item in said for part in item.get("content") or () if isinstance(part, dict)]
    texts = [part for part in parts if isinstance(part.get("text"), str)]
    read = _read("\n".join(part["text"] for part in texts), tools, answer.get("status") == "incomplete")
    if read.outcome.calls:
        for part in texts:
            part["text"] = read.outcome.text if part is texts[0] and read.outcome.text.strip() else ""
        for item in said:
            item["content"] = [part for part in item.get("content") or () if part not in texts or part["text"]]
        name = str(answer.get("id"))
        calls = [response_call(call, tools, name, number) for number, call in enumerate(read.outcome.calls)]
        answer["output"] = [item for item in answer["output"] if item not in said or item["content"]] + calls
    return read


def _read(text: str, tools: Sequence[PromptedTool], truncated: bool) -> _Text:
    parser = CallParser(tools)
    passed = parser.feed(text)
    outcome = parser.close(truncated=truncated)
    return _Text(text, truncated, ParsedAnswer(passed + outcome.text, outcome.calls, outcome.broken))
