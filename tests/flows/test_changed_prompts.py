"""Real clients that break their own cache: an MCP server that lists its keys anew, and many calls in one answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from laconic.config import load
from laconic.conversation.simulated_cache import ProviderCache
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.wire.formats import format_named
from laconic.wire.usage import Usage
from laconic_benchmarks.bill.clients import CLIENTS, BilledClient, install_client
from laconic_benchmarks.why.planted import cache_blocks

pytestmark = pytest.mark.flow

Json = dict[str, Any]
DONE = "All is done."
CALLS = 15  # in one answer: with their results more blocks than a provider looks back
SERVER = """
import json, sys
keys = sys.argv[1].split(",")
schema = {"type": "object", "properties": {key: {"type": "string", "description": key} for key in keys}}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "shelf", "version": "1"}
    elif asked.get("method") == "tools/list":
        result = {"tools": [{"name": "look", "description": "Look.", "inputSchema": schema}]}
    else:
        result = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


class CachingProvider:
    """Answers with calls of a shell where it is told to, and counts as a provider with a cache does."""

    def __init__(self, calls: int = 0) -> None:
        self._calls = calls
        self._cache = ProviderCache(format_named("anthropic").cache, lambda: 0.0)
        self.bodies: list[Json] = []
        self.usages: list[Usage] = []  # of requests with tools
        self._answers = 0

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.method != "POST" or "/messages" not in asked.path or "count" in asked.path:
            return ScriptedAnswer((b'{"object": "list", "data": []}',))
        body = json.loads(asked.body)
        if isinstance(body.get("system"), str):
            body["system"] = [{"type": "text", "text": body["system"]}]
        for message in body["messages"]:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        usage = self._cache.send(list(cache_blocks({"system": [], **body}, marks=True)))
        if body.get("tools"):
            self.bodies.append(body)
            self.usages.append(usage)
        self._answers += 1
        return self._answer(body, format_named("anthropic").usage.write(usage))

    def _answer(self, body: Json, usage: Json) -> ScriptedAnswer:
        blocks: list[tuple[Json, Json]] = [
            ({"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}),
        ]
        stop = "end_turn"
        names = {tool.get("name") for tool in body.get("tools", ())}
        if self._calls and "Bash" in names and "tool_result" not in json.dumps(body["messages"]):
            stop, blocks = "tool_use", []
            for number in range(self._calls):
                start = {"type": "tool_use", "id": f"toolu_{number:04}", "name": "Bash", "input": {}}
                given = json.dumps({"command": f"echo {number}", "description": "say it"})
                blocks.append((start, {"type": "input_json_delta", "partial_json": given}))
        message = {"id": f"msg_{self._answers}", "type": "message", "role": "assistant", "model": "m", "usage": usage}
        events: list[Json] = [{"type": "message_start", "message": {**message, "content": []}}]
        for index, (start, delta) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}})
        events.append({"type": "message_stop"})
        return streamed([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


async def _run(words: Sequence[str], folder: Path, environment: dict[str, str]) -> str:
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "laconic", "wrap", *words),
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        out, _ = await asyncio.wait_for(running.communicate(), 200)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    return out.decode("utf-8", "replace")


def _configure(client: BilledClient, home: Path, keys: str) -> list[str]:
    """Tell the client of the server, which lists its keys in that order; returns more words of the command."""
    server = home / "server.py"
    server.write_text(SERVER, "utf-8")
    command = [sys.executable, "-S", str(server), keys]
    if client.name == "opencode":
        file = home / "project" / "opencode.json"
        held = json.loads(file.read_text("utf-8"))
        held["mcp"] = {"shelf": {"type": "local", "command": command, "enabled": True}}
        file.write_text(json.dumps(held), "utf-8")
        return []
    file = home / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"shelf": {"command": command[0], "args": command[1:]}}}), "utf-8")
    return ["--mcp-config", str(file), "--strict-mcp-config"]


async def _play(
    client: BilledClient, home: Path, provider: CachingProvider, repair: bool, orders: Sequence[str]
) -> None:
    """One prompt for each order of keys, in one session."""
    (home / "project").mkdir()
    path = install_client(client, load().cache_dir() / "clients")
    async with ScriptedUpstream(provider) as upstream:
        environment = {**client.prepare(home, upstream.url), "PATH": path}
        environment["LACONIC_CONTEXT_REPAIR"] = str(repair).lower()
        for number, keys in enumerate(orders):
            words = [*(client.again if number else client.first), *(_configure(client, home, keys) if keys else ())]
            said = await _run(words, home / "project", environment)
            assert DONE in said, said[-3000:]


def _schemas(provider: CachingProvider) -> list[str]:
    found = []
    for body in provider.bodies:
        for tool in body["tools"]:
            if str(tool.get("name")).endswith("look"):
                found.append(json.dumps(tool["input_schema"]))
    return found


def _share_read(provider: CachingProvider) -> float:
    """The share of the last prompt that was read from the cache."""
    last = provider.usages[-1]
    return last.cache_read / last.prompt


def _named(name: str) -> BilledClient:
    return next(client for client in CLIENTS if client.name == name)


@pytest.mark.parametrize("name", ["claude", "opencode"])
def test_a_server_that_lists_its_keys_anew_costs_no_cache(name: str, tmp_path: Path) -> None:
    seen: dict[bool, CachingProvider] = {}
    for repair in (True, False):
        seen[repair] = CachingProvider()
        home = tmp_path / str(repair)
        home.mkdir()
        asyncio.run(_play(_named(name), home, seen[repair], repair, ("path,depth", "depth,path")))
    assert len(set(_schemas(seen[False]))) == 2  # the client does pass it on
    assert len(set(_schemas(seen[True]))) == 1
    assert _share_read(seen[True]) > 0.9
    assert _share_read(seen[False]) < 0.1


def test_many_calls_in_one_answer_cost_no_cache(tmp_path: Path) -> None:
    """Claude Code marks the end alone, too far behind the end of the request before."""
    reads = {}
    for repair in (True, False):
        provider = CachingProvider(CALLS)
        home = tmp_path / str(repair)
        home.mkdir()
        asyncio.run(_play(_named("claude"), home, provider, repair, ("",)))
        before, last = provider.usages[-2:]
        reads[repair] = last.cache_read / (before.cache_read + before.cache_write)
        assert 0 < json.dumps(provider.bodies[-1]).count('"cache_control"') <= 4
    assert reads[True] == 1 > reads[False]
