"""What a server costs in every prompt before it is asked anything: tool list and instructions, ours and installed peers'.

The list is what a real client gets on standard input and output, as compact JSON of names, descriptions and schemas.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import CommandFailed
from laconic.render.table import Cell
from laconic.tokens.count import Counter, counter
from laconic_benchmarks.peers.client import Client
from laconic_benchmarks.peers.environments import PEERS, command, installed
from laconic_benchmarks.report import Options, Report, at_most, versions

_MOST: Final = 800  # tokens of our list and instructions


def run(options: Options) -> Report:
    count, cache = counter(), Path(options.cache)
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "empty.py").write_text("x = 1\n")
        rows = [_row("laconic", [sys.executable, "-m", "laconic", "mcp"], root, count)]
        for peer in (each for each in PEERS if each.serves):
            number = installed(cache, peer)
            if not number:
                notes.append(f"{peer.package}: not installed (`laconic bench peers install {peer.package}`)")
                continue
            try:
                rows.append(_row(f"{peer.package} {number}", command(cache, peer, root), root, count))
            except CommandFailed as error:
                notes.append(f"{peer.package} {number}: {error}")
    return Report(
        "fixed",
        "an empty workspace",
        count.name,
        tuple(rows),
        (at_most("tokens of our tool list and instructions", float(rows[0]["tokens"] or 0), _MOST),),
        tuple(notes),
        versions("mcp"),
    )


def _row(name: str, words: list[str], root: Path, count: Counter) -> dict[str, Cell]:
    with closing(Client(words, root)) as client:
        tools = client.tools()
        listed = count(msgspec.json.encode(tools).decode())
        told = count(client.instructions)
    return {"server": name, "tools": len(tools), "list": listed, "instructions": told, "tokens": listed + told}
