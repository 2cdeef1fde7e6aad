"""How soon a client can use us: the first answers of `laconic mcp` against those of the bare SDK, in the same run."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import laconic
from laconic.clients.server_probe import ProbeResult, ask
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic_benchmarks.report import Options, Report, at_most, versions

_ROUNDS: Final = 7
_BARE: Final = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

async def main():
    server = Server("bare", on_list_tools=tools)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())

asyncio.run(main())
"""


def run(options: Options) -> Report:
    """Start both servers in turn on an indexed workspace (the first word, or our own source) and take the best."""
    root = Path(options.args[0] if options.args else Path(laconic.__file__).parent).resolve()
    with tempfile.TemporaryDirectory() as cache:
        index = Index.open(root, Path(cache))
        index.build()
        index.close()
        bare: list[ProbeResult] = []
        ours: list[ProbeResult] = []
        for _ in range(_ROUNDS):
            bare.append(ask([sys.executable, "-c", _BARE], root, seconds=60))
            words = [sys.executable, "-m", "laconic", "mcp"]
            ours.append(ask(words, root, seconds=60, environment={"LACONIC_CACHE_DIR": cache}))
    rows: list[dict[str, Cell]] = [_row("bare SDK", bare), _row("laconic", ours)]
    ratio = _best(ours)[0] / _best(bare)[0]
    listed = _best(ours)[1] / _best(bare)[1]
    return Report(
        "ready",
        str(root),
        "none",
        tuple(rows),
        (
            at_most("initialize: ratio to the bare SDK", ratio, 1.3),
            at_most("tools listed: ratio to the bare SDK", listed, 1.3),
            at_most("answers that failed", sum(bool(seen.problem) for seen in (*bare, *ours)), 0),
        ),
        (f"best of {_ROUNDS} fresh processes each, in turn",),
        versions("mcp"),
    )


def _best(seen: Sequence[ProbeResult]) -> tuple[float, float]:
    return min(answer.seconds for answer in seen), min(answer.listed for answer in seen)


def _row(name: str, seen: Sequence[ProbeResult]) -> dict[str, Cell]:
    first, listed = _best(seen)
    return {"server": name, "initialize ms": first * 1000, "tools listed ms": listed * 1000}
