"""Mutated request bodies in every format: never a crash, always something to send, never a changed untouched block.

Words: how many bodies (20000).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.errors import LaconicError
from laconic.exchange.caller import Target
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.planner import GatewayPolicy, Planner
from laconic.tokens.count import counter
from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import parse
from laconic_benchmarks.report import Options, Report, at_most, versions

_PIECES: Final = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"0", b"-1e999", b"\xff", b"\x00", b"\\ud800",
    b" ", b'"role":"user"', b'"content":[]', b'"content":null', b'"type":"tool_use"', b'"type":"tool_result"',
    b'"text":7',
)  # fmt: skip


def run(options: Options) -> Report:
    """Measure."""
    count = int(options.args[0]) if options.args else 20_000
    chance = random.Random(11)
    options_of_engine = EngineOptions(economic=False)  # what leaves whole is not what this is about
    engine = EngineAdapter(
        single_engine(ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, counter(), options_of_engine))
    )
    planner = Planner(engine, GatewayPolicy(), lambda: 0.0)
    seeds = {name: json.dumps(_conversation(name)).encode() for name in FORMATS}
    found: Counter[str] = Counter()
    for _ in range(count):
        name = chance.choice(sorted(seeds))
        body = mutated(seeds[name], chance)
        plan = planner.plan(Target("x", "http://x", "/", name), {}, "", body)
        found["failed open"] += bool(plan.failed)
        found["changed"] += plan.body != body
        found["altered"] += plan.body != body and _altered(name, body, plan.body)
    return Report(
        "fuzz",
        f"{count} mutations of one conversation in {len(seeds)} formats",
        counter().name,
        (dict(found),),
        (
            at_most("bodies on which our code failed (they pass unchanged)", found["failed open"], 0),
            at_most("bodies with a changed block that may not change", found["altered"], 0),
        ),
        versions=versions("msgspec"),
    )


def mutated(body: bytes, chance: random.Random) -> bytes:
    """Some bytes put in, taken out, doubled or replaced."""
    data = bytearray(body)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(data))
        way = chance.random()
        if way < 0.5:
            data[at : at + chance.randrange(2)] = chance.choice(_PIECES)
        elif way < 0.7:
            del data[at : at + chance.randrange(1, 40)]
        elif way < 0.85:
            data[at:at] = data[at : at + chance.randrange(1, 60)]
        else:
            data[at] = chance.randrange(256)
        if not data:
            return b"{}"
    return bytes(data)


def _altered(name: str, before: bytes, after: bytes) -> bool:
    """Whether anything but texts of results and arguments of calls is another than it was."""
    try:
        old, new = parse(FORMATS[name], before).turns, parse(FORMATS[name], after).turns
    except LaconicError:
        return True
    if len(old) != len(new):
        return True
    pairs = [
        (x, y) for left, right in zip(old, new, strict=True) for x, y in zip(left.blocks, right.blocks, strict=True)
    ]
    return any(x.raw != y.raw and x.kind not in {"result", "call"} for x, y in pairs)


def _conversation(name: str) -> dict[str, Any]:
    """Ten steps with logs that are worth reducing."""
    log = "\n".join(f"12:00:{n % 60:02} INFO step {n} of the build finished without a word" for n in range(120))
    steps = [(f"c{n}", {"command": f"make {n}"}, log) for n in range(10)]
    makers = {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini}
    return makers[name](steps)


Steps = Sequence[tuple[str, dict[str, str], str]]


def _anthropic(steps: Steps) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend the build."}]
    for id, arguments, log in steps:
        thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        use = {"type": "tool_use", "id": id, "name": "Bash", "input": arguments}
        messages.append({"role": "assistant", "content": [thought, use]})
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": log}]})
    return {"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "s", "messages": messages}


def _chat(steps: Steps) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Mend the build."},
    ]
    for id, arguments, log in steps:
        call = {"id": id, "type": "function", "function": {"name": "bash", "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id, "content": log})
    return {"model": "gpt-5", "messages": messages}


def _responses(steps: Steps) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "input_text", "text": "Mend the build."}]}]
    for id, arguments, log in steps:
        items.append({"type": "reasoning", "id": f"rs_{id}", "summary": [], "encrypted_content": "gAAA"})
        items.append(
            {"type": "function_call", "call_id": id, "name": "exec_command", "arguments": json.dumps(arguments)}
        )
        items.append({"type": "function_call_output", "call_id": id, "output": log})
    return {"model": "gpt-5", "instructions": "s", "input": items}


def _gemini(steps: Steps) -> dict[str, Any]:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Mend the build."}]}]
    for _, arguments, log in steps:
        call = {"functionCall": {"name": "shell", "args": arguments}, "thoughtSignature": "c2ln"}
        contents.append({"role": "model", "parts": [call]})
        contents.append(
            {"role": "user", "parts": [{"functionResponse": {"name": "shell", "response": {"output": log}}}]}
        )
    return {"contents": contents}
