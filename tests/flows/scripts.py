"""A scripted model for three wire formats: it makes the calls of a list, one a turn, and then says that it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backports import zstd

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed

DONE = "All calls were made."
_WAIT = "WaitForMcpServers"


@dataclass(frozen=True)
class Step:
    """One call that the model makes."""

    tool: str  # our own name for it
    arguments: dict[str, object] | Callable[[list[str]], dict[str, object]]  # or what follows from the results so far


def body(asked: ReceivedRequest) -> dict[str, Any]:
    """The request's JSON, whether it came compressed or not."""
    raw = asked.body
    if asked.header("content-encoding") == "zstd":
        raw = zstd.decompress(raw)
    try:
        held = json.loads(raw)
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def offered(request: dict[str, Any], tool: str) -> str:
    """The name under which the client offers a tool of ours to the model."""
    for entry in request.get("tools", ()):
        for inner in entry.get("tools") or [entry]:  # Codex groups the tools of a server
            name = str((inner.get("function") or inner).get("name", ""))
            if name == tool or name.endswith((f"laconic_{tool}", f"laconic__{tool}", f"laconic-around__{tool}")):
                return name
    return ""


def namespace(request: dict[str, Any], tool: str) -> str:
    """The group in which Codex offers a tool."""
    for entry in request.get("tools", ()):
        if any(inner.get("name") == tool for inner in entry.get("tools", ())):
            return str(entry["name"])
    return ""


def results(request: dict[str, Any]) -> list[str]:
    """The texts of the results of our calls, in a request of any of the formats, in order."""
    found: list[tuple[str, object]] = []
    for item in [*request.get("messages", ()), *_items(request)]:
        if item.get("role") == "tool":
            found.append((str(item.get("tool_call_id")), item.get("content")))
        elif item.get("type") == "function_call_output":
            found.append((str(item.get("call_id")), item.get("output")))
        elif isinstance(item.get("content"), list):
            parts = [part for part in item["content"] if part.get("type") == "tool_result"]
            found += [(str(part["tool_use_id"]), part.get("content")) for part in parts]
    return [_text(content) for number, content in found if number.startswith("call_")]


def _items(request: dict[str, Any]) -> list[dict[str, Any]]:
    held = request.get("input")
    return held if isinstance(held, list) else []


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def model(steps: Sequence[Step], asked: ReceivedRequest) -> ScriptedAnswer:
    """What the model says to a request: the next call, or that it is done; nothing much to requests without tools."""
    request = body(asked)
    shown = results(request)
    done = len(shown)
    step = steps[done] if done < len(steps) else None
    name = offered(request, step.tool) if step else ""
    call = None
    if step and name:
        arguments = step.arguments(shown) if callable(step.arguments) else step.arguments
        call = Call(f"call_{done}", name, arguments)
    if step and not name and offered(request, _WAIT):  # Claude Code asks before all servers are there
        call = Call(f"wait_{len(request['messages'])}", _WAIT, {})
    if "/messages" in asked.path:
        return _anthropic(call)
    if "/responses" in asked.path:
        return _responses(call, namespace(request, name))
    if "/chat/completions" in asked.path:
        return _chat(call)
    if "GenerateContent" in asked.path:
        return _gemini()
    return ScriptedAnswer(chunks=(b'{"object": "list", "data": [], "models": []}',))


def _gemini() -> ScriptedAnswer:
    """Only that it is done."""
    content = {"role": "model", "parts": [{"text": DONE}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    return streamed([f"data: {json.dumps(answer)}\n\n".encode()])


@dataclass(frozen=True)
class Call:
    """A call as the client sees it."""

    number: str
    name: str
    arguments: dict[str, object]


def _event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def _anthropic(call: Call | None) -> ScriptedAnswer:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    block: dict[str, object] = {"type": "text", "text": ""}
    delta: dict[str, object] = {"type": "text_delta", "text": DONE}
    if call:
        block = {"type": "tool_use", "id": call.number, "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return streamed(
        [
            _event("message_start", message=message),
            _event("content_block_start", index=0, content_block=block),
            _event("content_block_delta", index=0, delta=delta),
            _event("content_block_stop", index=0),
            _event("message_delta", delta=stop, usage=usage),
            _event("message_stop"),
        ]
    )


def _responses(call: Call | None, group: str) -> ScriptedAnswer:
    item: dict[str, object] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": DONE, "annotations": []}],
    }
    if call:
        item = {
            "type": "function_call",
            "id": f"fc_{call.number}",
            "call_id": call.number,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
            **({"namespace": group} if group else {}),
        }
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return streamed(
        [
            _event("response.created", response={"id": "resp_1"}),
            _event("response.output_item.added", output_index=0, item=item),
            _event("response.output_item.done", output_index=0, item=item),
            _event("response.completed", response=response),
        ]
    )


def _chat(call: Call | None) -> ScriptedAnswer:
    delta: dict[str, object] = {"role": "assistant", "content": DONE}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": call.number, "type": "function", "function": function}],
        }
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
        {**head, "choices": [], "usage": usage},
    ]
    return streamed([f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"])
