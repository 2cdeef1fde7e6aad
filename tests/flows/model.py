"""A model that follows plans, in the dialect of whoever asks: a prompt chooses a plan, each answer makes its next calls.

Every request carries the whole history, and the ids of calls say which plan and which step they belong to: the last
result or prompt in a request decides what comes next, whatever was left out before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import ParsedRequest, parse

Json = dict[str, Any]
Call = tuple[str, Json]
PATHS = {"/v1/messages": "anthropic", "/v1/responses": "responses", "/v1/chat/completions": "chat"}
DONE = "All steps are done."
TITLES = ("Read the logs", "Fix the parser", "Try it out", "Write it down")
_STEP = re.compile(r"_(\d\d)_(\d{4})_\d$")


class Tasks(NamedTuple):
    """A step that keeps the list of tasks: so many are completed, and the next is in progress; -1: all are new."""

    done: int


Step = str | Tasks  # a command, or what becomes of the tasks


@dataclass
class PlannedModel:
    """Remembers each conversation that reached it and the rules that it broke."""

    plans: Mapping[str, Sequence[Step]]  # by prompt
    seen: list[ParsedRequest] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)  # plan and step of each
    faults: list[str] = field(default_factory=list)
    tools: set[str] = field(default_factory=set)  # names of the tools that it was offered

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        path = asked.path.split("?")[0]
        if path not in PATHS or asked.method != "POST":
            return ScriptedAnswer((b'{"data": []}',))
        body = json.loads(asked.body)
        talk = parse(FORMATS[PATHS[path]], asked.body)
        place = self._place(talk)
        if _shell(body) is None or place is None:  # a title, a check of the quota: nothing that belongs to a plan
            return _say(path, body, "00_0000", "x", [])
        self.tools |= set(_names(body))
        self.seen.append(talk)
        self.places.append(place)
        self.faults += [f"{len(self.seen)}: {fault}" for fault in talk.faults()]
        plan, number = place
        steps = list(self.plans.values())[plan]
        id = f"{plan:02}_{number:04}"
        if number >= len(steps):
            return _say(path, body, id, DONE, [])
        return _say(path, body, id, f"Step {number}.", list(_calls(body, steps[number])))

    def _place(self, talk: ParsedRequest) -> tuple[int, int] | None:
        """The plan that is followed, and the step that is next."""
        for turn in reversed(talk.turns):
            for block in reversed(turn.blocks):
                if block.kind == "result" and (found := _STEP.search(block.id)):
                    return int(found[1]), int(found[2]) + 1
                if turn.role == "user" and block.kind == "text":
                    for plan, prompt in enumerate(self.plans):
                        if prompt in block.text:
                            return plan, 0
        return None


def _say(path: str, body: Json, id: str, text: str, calls: list[Call]) -> ScriptedAnswer:
    if path == "/v1/messages":
        return streamed(list(_anthropic(id, text, calls))) if body.get("stream") else _whole_message(id, text)
    if path == "/v1/responses":
        return streamed(list(_responses(id, text, calls)))
    return streamed(list(_chat(id, text, calls)))


def _calls(body: Json, step: Step) -> Iterator[Call]:
    if isinstance(step, str):
        shell = _shell(body)
        assert shell is not None
        yield shell, _input(shell, step)
        return
    states = ["completed"] * step.done + ["in_progress"] * (0 <= step.done < len(TITLES))
    rows = list(zip(TITLES, [*states, *["pending"] * len(TITLES)], strict=False))
    names = _names(body)
    if "todowrite" in names:
        yield (
            "todowrite",
            {"todos": [{"content": title, "status": state, "priority": "high"} for title, state in rows]},
        )
    elif "update_plan" in names:
        yield "update_plan", {"plan": [{"step": title, "status": state} for title, state in rows]}
    elif step.done < 0:
        yield from (("TaskCreate", {"subject": title, "description": title}) for title in TITLES)
    else:
        if step.done:
            yield "TaskUpdate", {"taskId": str(step.done), "status": "completed"}
        if step.done < len(TITLES):
            yield "TaskUpdate", {"taskId": str(step.done + 1), "status": "in_progress"}


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


def _input(name: str, command: str) -> Json:
    if name == "shell":
        return {"command": ["bash", "-lc", command]}
    if name == "exec_command":
        return {"cmd": command}
    more = {"description": "a step of the plan"} if name in {"Bash", "bash"} else {}
    return {"command": command, **more}


def _event(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _whole_message(id: str, text: str) -> ScriptedAnswer:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "end_turn",
        "usage": usage,
    }
    return ScriptedAnswer((json.dumps({**message, "content": [{"type": "text", "text": text}]}).encode(),))


def _anthropic(id: str, text: str, calls: list[Call]) -> Iterator[bytes]:
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
    for number, (name, arguments) in enumerate(calls):
        index = number + 1
        block = {"type": "tool_use", "id": f"toolu_{id}_{number}", "name": name, "input": {}}
        yield _event({"type": "content_block_start", "index": index, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}})
    yield _event({"type": "message_stop"})


def _responses(id: str, text: str, calls: list[Call]) -> Iterator[bytes]:
    response: Json = {"id": f"resp_{id}", "object": "response", "model": "m", "status": "in_progress", "output": []}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    items: list[Json] = [
        {"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed", "content": content}
    ]
    if calls:
        items = [
            {
                "type": "function_call",
                "id": f"fc_{id}_{number}",
                "call_id": f"call_{id}_{number}",
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    yield _event({"type": "response.created", "response": response})
    for index, item in enumerate(items):
        yield _event({"type": "response.output_item.added", "output_index": index, "item": item})
        if not calls:
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


def _chat(id: str, text: str, calls: list[Call]) -> Iterator[bytes]:
    def chunk(delta: Json, finish: str | None = None, **more: object) -> bytes:
        head = {"id": f"c_{id}", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
        return (
            b"data: "
            + json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode()
            + b"\n\n"
        )

    yield chunk({"role": "assistant", "content": text})
    for number, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        called = {"index": number, "id": f"call_{id}_{number}", "type": "function", "function": function}
        yield chunk({"tool_calls": [called]})
    yield chunk(
        {}, "tool_calls" if calls else "stop", usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    )
    yield b"data: [DONE]\n\n"
