"""Servers that hang, die, flood, send broken JSON or change their tools, beside a good one that is asked all the time."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any, Final

from laconic_benchmarks.around.measuring import Measured, ask, connected, texts, through
from laconic_benchmarks.report import at_most

_KINDS: Final = ("hang", "die", "flood", "broken", "changing", "chatter")
_SECONDS: Final = 8.0
_CALLS: Final = 0.02  # seconds between two calls of the good one


async def measure_trouble(folder: Path, measured: Measured) -> None:
    """All bad servers at once behind one of ours."""
    script = folder / "troubled_server.py"
    script.write_text(_SERVER)
    servers: dict[str, dict[str, Any]] = {}
    for kind in ("good", *_KINDS):
        servers[kind] = {"command": sys.executable, "args": [str(script), kind]}
    slowest = 0.0
    wrong = 0
    async with connected(through(servers, folder / "trouble")) as around:
        await around.request("tools/list", {})
        bad = [asyncio.ensure_future(ask(around, f"{kind}/work", {})) for kind in _KINDS]
        until = time.monotonic() + _SECONDS
        count = 0
        while time.monotonic() < until:
            before = time.perf_counter()
            wrong += texts(await ask(around, "good/work", {})) != "done"
            slowest = max(slowest, time.perf_counter() - before)
            count += 1
            await asyncio.sleep(_CALLS)
        for task in bad:
            task.cancel()
    measured.rows.append(
        {"server": "good", "what": f"{count} calls beside {len(_KINDS)} bad servers, slowest s", "through": slowest}
    )
    measured.bars += [
        at_most("slowest answer beside bad servers, s", slowest, 1),
        at_most("wrong answers beside them", wrong, 0),
    ]


_SERVER: Final = r"""
import json, os, sys, time
kind, stream = sys.argv[1], sys.stdout
def say(message):
    stream.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    stream.flush()
tools = [{"name": "work", "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "initialize":
        about = {"capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": kind, "version": "1"}}
        say({"id": number, "result": {"protocolVersion": "2025-06-18", **about}})
    elif method == "tools/list":
        say({"id": number, "result": {"tools": tools}})
    elif method == "tools/call":
        if kind == "hang":
            time.sleep(3600)
        if kind == "die":
            os._exit(9)
        if kind == "flood":
            stream.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % number)
            for _ in range(100):
                stream.write("x" * 1_000_000)
            stream.write('"}]}}\n')
            stream.flush()
            continue
        if kind == "broken":
            stream.write('{"id":%d, "result": {]\n' % number)
            stream.flush()
            continue
        if kind == "chatter":
            for count in range(100_000):
                say({"method": "notifications/message", "params": {"level": "info", "data": "y" * 900}})
        if kind == "changing":
            for count in range(200):
                tools.append({"name": "t%d" % count, "inputSchema": {"type": "object"}})
                say({"method": "notifications/tools/list_changed"})
        say({"id": number, "result": {"content": [{"type": "text", "text": "done"}]}})
"""
