"""Tokens of schemas and results, facts that stay, and time, directly and through us."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from laconic.config import child_environment
from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.connection import ServerConnection
from laconic.mcp_proxy.definitions import ServerDefinition, read_definition
from laconic.mcp_proxy.messages import ErrorAnswer, Message
from laconic.render.table import Cell
from laconic.workspace.git import git
from laconic_benchmarks.around import held_out, unseen
from laconic_benchmarks.around.questions import Question, questions
from laconic_benchmarks.around.servers import entries
from laconic_benchmarks.report import Bar, at_least, at_most

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_SHOWN = ("name", "description", "inputSchema")  # what clients put into prompts


@dataclass(slots=True)
class Measured:
    """What was found."""

    rows: list[dict[str, Cell]] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How answers are compared, and where that is written."""

    cost: Callable[[str], int]
    measured: Measured
    facts: int  # the fewest that count
    label: str = ""


@asynccontextmanager
async def connected(definition: ServerDefinition) -> AsyncIterator[ServerConnection]:
    """A client of one server, which answers no questions of its own."""
    connection = ServerConnection(definition, child_environment(), lambda: _HELLO, lambda *_: None, seconds=60)
    try:
        await connection.start()
        yield connection
    finally:
        await connection.close()


def direct(name: str, entry: dict[str, Any]) -> ServerDefinition:
    definition = read_definition(name, entry, {})
    assert definition is not None
    return definition


def through(servers: dict[str, dict[str, Any]], folder: Path) -> ServerDefinition:
    """`laconic mcp --around` in front of these."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    words = (sys.executable, "-m", "laconic", "mcp", "--around", str(file), "--root", str(folder))
    variables = {"LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_AROUND_SCHEMAS": "lines"}
    return ServerDefinition(name="laconic", transport="stdio", command=words, variables=variables)


async def ask(connection: ServerConnection, tool: str, arguments: Message) -> Message:
    """A call; errors of the protocol count as answers too."""
    try:
        return await asyncio.wait_for(connection.request("tools/call", {"name": tool, "arguments": arguments}), 90)
    except ErrorAnswer as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    except (ServerUnavailable, TimeoutError) as error:
        return {"content": [{"type": "text", "text": f"unavailable: {error}"}], "isError": True}


def texts(result: Message) -> str:
    found = []
    for block in result.get("content") or []:
        if "text" in block:
            found.append(str(block["text"]))
        elif isinstance(block.get("resource"), dict):
            found.append(str(block["resource"].get("text", "")))
    return "\n".join(found)


async def measure_schemas(installed: Path, world: Path, cost: Callable[[str], int], measured: Measured) -> None:
    """The tool lists and instructions, as a prompt holds them."""
    servers = entries(installed, world)
    whole = 0
    count = 0
    for name, entry in servers.items():
        async with connected(direct(name, entry)) as server:
            tools = (await server.request("tools/list", {}))["tools"]
            size = _size(tools, cost) + cost(str((server.greeting or {}).get("instructions") or ""))
            measured.rows.append({"server": name, "what": f"{len(tools)} tools", "directly": size})
            whole += size
            count += len(tools)
    async with connected(through(servers, world / "schemas")) as around:
        for _ in range(30):  # until all were started once
            tools = (await around.request("tools/list", {}))["tools"]
            if "not started yet" not in tools[0]["description"]:
                break
            await asyncio.sleep(1)
        ours = _size(tools, cost) + cost(str((around.greeting or {}).get("instructions") or ""))
    measured.rows.append({"server": "all", "what": f"{count} tools", "directly": whole, "through": ours})
    measured.bars.append(at_least("servers", len(servers), 10))
    measured.bars.append(at_least("schema tokens saved", 1 - ours / whole, 0.9))


async def measure_results(installed: Path, world: Path, cost: Callable[[str], int], measured: Measured) -> None:
    """The same calls in the same order, on servers of their own."""
    servers = entries(installed, world)
    orders = json.loads((world / "files" / "orders.json").read_text())["orders"]
    with serving(world / "files" / "site") as site:
        asked = questions(str(world), site, orders, _commits(world / "repo"))
        await _ask_both_ways(servers, asked, world / "results", Comparison(cost, measured, facts=200))


async def measure_unseen(installed: Path, world: Path, cost: Callable[[str], int], measured: Measured) -> None:
    """The same on servers and material that the reducers were not written for."""
    comparison = Comparison(cost, measured, facts=60, label="unseen: ")
    await _ask_both_ways(unseen.entries(installed, world), unseen.questions(str(world)), world / "own", comparison)


async def measure_held_out(installed: Path, world: Path, cost: Callable[[str], int], measured: Measured) -> None:
    """The same on servers that nothing was tuned on."""
    comparison = Comparison(cost, measured, facts=60, label="held out: ")
    with serving(world / "site") as site:
        asked = held_out.questions(str(world), site)
        await _ask_both_ways(held_out.entries(installed, world), asked, world / "own", comparison)


async def _ask_both_ways(
    servers: dict[str, dict[str, Any]], asked: list[Question], folder: Path, comparison: Comparison
) -> None:
    whole = await _ask_directly(servers, asked)
    async with connected(through(servers, folder)) as around:
        await around.request("tools/list", {})
        short = []
        for question in asked:
            short.append(texts(await ask(around, f"{question.server}/{question.tool}", question.arguments)))
    _compare(asked, whole, short, comparison)


def _commits(repo: Path) -> list[tuple[str, str]]:
    """Hashes and messages, the newest first."""
    rows = git(repo, "log", "--format=%H %s").decode().splitlines()
    return [(row[:40], row[41:]) for row in rows]


async def _ask_directly(servers: dict[str, dict[str, Any]], asked: list[Question]) -> list[str]:
    found: dict[int, str] = {}
    for name, entry in servers.items():
        async with connected(direct(name, entry)) as server:
            for place, question in enumerate(asked):
                if question.server == name:
                    found[place] = texts(await ask(server, question.tool, question.arguments))
    return [found[place] for place in range(len(asked))]


def _compare(asked: list[Question], whole: list[str], short: list[str], comparison: Comparison) -> None:
    cost, measured, label = comparison.cost, comparison.measured, comparison.label
    facts = kept = impossible = 0
    seen: dict[str, str] = {}
    totals: dict[str, list[int]] = {}
    for question, before, after in zip(asked, whole, short, strict=True):
        seen[question.server] = seen.get(question.server, "") + "\n" + after
        tally = totals.setdefault(question.server, [0, 0, 0, 0])
        tally[0] += cost(before)
        tally[1] += cost(after)
        for fact in question.facts:
            if fact not in before:
                impossible += 1
                measured.notes.append(f"not in the direct answer: {question.server} {question.tool}: {fact}")
                continue
            facts += 1
            is_kept = fact in seen[question.server]
            kept += is_kept
            tally[2] += 1
            tally[3] += is_kept
            if not is_kept:
                measured.notes.append(f"lost: {question.server} {question.tool}: {fact}")
    for name, (before_tokens, after_tokens, all_facts, kept_facts) in totals.items():
        measured.rows.append(
            {
                "server": f"{label}{name}",
                "what": f"results, {kept_facts} of {all_facts} facts",
                "directly": before_tokens,
                "through": after_tokens,
            }
        )
    before_all = sum(tally[0] for tally in totals.values())
    after_all = sum(tally[1] for tally in totals.values())
    measured.bars += [
        at_least(f"{label}result tokens saved", 1 - after_all / before_all, 0.6),
        at_least(f"{label}facts", facts, comparison.facts),
        at_least(f"{label}facts kept", kept / max(1, facts), 0.99),
        at_most(f"{label}facts that no direct answer had", impossible, 0),
    ]


async def measure_time(installed: Path, world: Path, measured: Measured, calls: int) -> None:
    """What a short call takes, each way in turn."""
    servers = {
        name: entry for name, entry in entries(installed, world).items() if name in {"filesystem", "everything"}
    }
    note = str(world / "files" / "note_001.txt")
    for name, tool, arguments in (
        ("everything", "echo", {"message": "x"}),
        ("filesystem", "read_text_file", {"path": note}),
    ):
        async with (
            connected(direct(name, servers[name])) as one,
            connected(through(servers, world / "time")) as other,
        ):
            await ask(other, f"{name}/{tool}", arguments)
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(calls):
                for server, called, taken in ((one, tool, times[0]), (other, f"{name}/{tool}", times[1])):
                    before = time.perf_counter()
                    await ask(server, called, arguments)
                    taken.append(1_000 * (time.perf_counter() - before))
        measured.rows.append(
            {
                "server": name,
                "what": f"ms at p50, {calls} calls",
                "directly": median(times[0]),
                "through": median(times[1]),
            }
        )
        measured.bars.append(at_most(f"ms added at p50 ({name})", median(times[1]) - median(times[0]), 5))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Pages on loopback."""
    handler = partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


def _size(tools: list[Message], cost: Callable[[str], int]) -> int:
    shown = [{name: tool[name] for name in _SHOWN if name in tool} for tool in tools]
    return cost(json.dumps(shown, separators=(",", ":")))
