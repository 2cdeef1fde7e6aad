"""A model that follows a plan, in the dialect of whoever asks: it calls the next tool until the plan ends.

Each request carries the whole history, so the number of results in it says how far the plan has got.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from laconic.gateway.scripted import Answer, Asked, streamed
from laconic.wire.conversation import Conversation, parse
from laconic.wire.formats import FORMATS

Json = dict[str, Any]
PATHS = {"/v1/messages": "anthropic", "/v1/responses": "responses", "/v1/chat/completions": "chat"}
DONE = "All forty steps are done."


@dataclass
class PlannedModel:
    """Remembers each conversation that reached it and the rules that it broke."""

    steps: int
    command: Callable[[int], str]
    seen: list[Conversation] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    tools: set[str] = field(default_factory=set)  # names of the tools that it was offered

    def __call__(self, asked: Asked) -> Answer:
        path = asked.path.split("?")[0]
        if path not in PATHS or asked.method != "POST":
            return Answer((b'{"data": []}',))
        body = json.loads(asked.body)
        talk = parse(FORMATS[PATHS[path]], asked.body)
        shell = _shell(body)
        if shell is None:  # a title, a check of the quota: nothing that belongs to the plan
            return self._say(path, body, "x", None)
        self.tools |= set(_names(body))
        self.seen.append(talk)
        self.faults += [f"{len(self.seen)}: {fault}" for fault in talk.faults()]
        done = sum(block.kind == "result" for turn in talk.turns for block in turn.blocks)
        call = (shell, _input(body, shell, self.command(done))) if done < self.steps else None
        return self._say(path, body, DONE if call is None else f"Step {done}.", call)

    def _say(self, path: str, body: Json, text: str, call: tuple[str, Json] | None) -> Answer:
        id = f"{len(self.seen):04}"
        if path == "/v1/messages":
            events = list(_anthropic(id, text, call))
            return streamed(events) if body.get("stream") else _whole_message(id, text)
        if path == "/v1/responses":
            return streamed(list(_responses(id, text, call)))
        return streamed(list(_chat(id, text, call)))


def _shell(body: Json) -> str | None:
    """The tool that runs commands."""
    wanted = ("Bash", "bash", "shell_command", "exec_command", "shell")
    return next((name for name in wanted if name in _names(body)), None)


def _names(body: Json) -> list[str]:
    """Also of tools that are grouped."""
    found: list[str] = []
    for tool in body.get("tools") or []:
        found.append(str(tool.get("name") or tool.get("function", {}).get("name")))
        found += [f"{tool.get('name')}.{inner.get('name')}" for inner in tool.get("tools", [])]
    return found


def _input(body: Json, name: str, command: str) -> Json:
    if name == "shell":
        return {"command": ["bash", "-lc", command]}
    if name == "exec_command":
        return {"cmd": command}
    return (
        {"command": command, "description": "a step of the plan"}
        if name in {"Bash", "bash"}
        else {"command": command}
    )


def _event(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _whole_message(id: str, text: str) -> Answer:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "end_turn",
        "usage": usage,
    }
    return Answer((json.dumps({**message, "content": [{"type": "text", "text": text}]}).encode(),))


def _anthropic(id: str, text: str, call: tuple[str, Json] | None) -> Iterator[bytes]:
    usage = {
        "input_tokens": 100,
        "output_tokens": 1,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50,
    }
    message = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    yield _event({"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}})
    yield _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    yield _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    yield _event({"type": "content_block_stop", "index": 0})
    if call is not None:
        block = {"type": "tool_use", "id": f"toolu_{id}", "name": call[0], "input": {}}
        yield _event({"type": "content_block_start", "index": 1, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        yield _event({"type": "content_block_delta", "index": 1, "delta": delta})
        yield _event({"type": "content_block_stop", "index": 1})
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}})
    yield _event({"type": "message_stop"})


def _responses(id: str, text: str, call: tuple[str, Json] | None) -> Iterator[bytes]:
    response: Json = {"id": f"resp_{id}", "object": "response", "model": "m", "status": "in_progress", "output": []}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    items: list[Json] = [
        {"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed", "content": content}
    ]
    if call is not None:
        arguments = json.dumps(call[1])
        items = [
            {
                "type": "function_call",
                "id": f"fc_{id}",
                "call_id": f"call_{id}",
                "name": call[0],
                "arguments": arguments,
            }
        ]
    yield _event({"type": "response.created", "response": response})
    for index, item in enumerate(items):
        yield _event({"type": "response.output_item.added", "output_index": index, "item": item})
        if call is None:
            at = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield _event({"type": "response.output_text.delta", **at, "delta": text})
        yield _event({"type": "response.output_item.done", "output_index": index, "item": item})
    usage = {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 900},
        "output_tokens": 5,
        "total_tokens": 1005,
    }
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    yield _event(
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": items, "usage": usage},
        }
    )


def _chat(id: str, text: str, call: tuple[str, Json] | None) -> Iterator[bytes]:
    def chunk(delta: Json, finish: str | None = None, **more: object) -> bytes:
        head = {"id": f"c_{id}", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
        return (
            b"data: "
            + json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode()
            + b"\n\n"
        )

    yield chunk({"role": "assistant", "content": text})
    if call is not None:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        yield chunk({"tool_calls": [{"index": 0, "id": f"call_{id}", "type": "function", "function": function}]})
    yield chunk(
        {}, "tool_calls" if call else "stop", usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    )
    yield b"data: [DONE]\n\n"
