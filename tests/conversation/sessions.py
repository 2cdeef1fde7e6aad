"""Sessions that the engine is tried on: an agent that reads, edits and runs, turn after turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import ParsedRequest, parse

Json = dict[str, Any]
FORMAT = format_named("anthropic")


def count(text: str) -> int:
    """Near enough for tests, and fast."""
    return len(text) // 4 + 1


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def code(name: str, lines: int = 60) -> str:
    """A file with names of its own."""
    return "\n".join(
        f"    {name}_value_{number} = compute_{name}({number}, 'some text here')" for number in range(lines)
    )


def listing(text: str, start: int = 1) -> str:
    """A file as Claude Code shows it."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(text.split("\n"), start))


def turn(id: str, name: str, arguments: Json, output: Any, *, error: bool = False, text: str = "") -> list[Json]:
    """One exchange."""
    said = [{"type": "text", "text": text}] if text else []
    result: Json = {"type": "tool_result", "tool_use_id": id, "content": output}
    if error:
        result["is_error"] = True
    return [
        {"role": "assistant", "content": [*said, {"type": "tool_use", "id": id, "name": name, "input": arguments}]},
        {"role": "user", "content": [result]},
    ]


def read(id: str, path: str, text: str, start: int = 1) -> list[Json]:
    return turn(id, "Read", {"file_path": path}, listing(text, start))


def run(id: str, command: str, output: str) -> list[Json]:
    return turn(id, "Bash", {"command": command}, output)


def user(text: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def body(messages: Sequence[Json], **fields: Any) -> bytes:
    head = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": "s", "tools": []}
    return json.dumps({**head, **fields, "messages": list(messages)}, ensure_ascii=False).encode()


def engine(
    options: EngineOptions | None = None,
    *,
    store: MemoryStore | None = None,
    archive: Any = None,
    clock: Clock | None = None,
) -> ConversationEngine:
    return ConversationEngine(
        store or MemoryStore(),
        archive or MemoryArchive(),
        clock or Clock(),
        count,
        options,
    )


def send(
    one: ConversationEngine, messages: Sequence[Json], bounds: RequestLimits | None = None, **fields: Any
) -> PreparedRequest:
    return one.prepare("session", parse(FORMAT, body(messages, **fields)), bounds)


def opened(prepared: PreparedRequest) -> ParsedRequest:
    return parse(FORMAT, prepared.body)


def texts(prepared: PreparedRequest) -> list[str]:
    """The results as they are sent."""
    return [b.text for t in opened(prepared).turns for b in t.blocks if b.kind == "result"]


def long_session(turns: int = 80, size: int = 60) -> list[Json]:
    """Files that are read once and never come back, and a run after each."""
    messages = [user("Please look around.")]
    for number in range(turns):
        if number % 2:
            log = "\n".join(f"step {number} of the log, entry {n}" for n in range(20))
            messages += run(f"c{number}", f"make step{number}", log)
        else:
            messages += read(f"c{number}", f"src/mod{number}.py", code(f"mod{number}", size))
    return messages
