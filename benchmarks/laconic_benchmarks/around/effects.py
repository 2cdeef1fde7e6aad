"""Random calls that change things, on two equal worlds: afterwards the worlds must be equal."""

from __future__ import annotations

import random
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

from laconic.mcp_proxy.connection import ServerConnection
from laconic_benchmarks.around.measuring import Measured, ask, connected, direct, texts, through
from laconic_benchmarks.around.servers import WORDS, entries, make_world
from laconic_benchmarks.report import at_least, at_most

_SERVERS = ("filesystem", "sqlite", "memory")


async def measure_effects(installed: Path, folder: Path, measured: Measured, calls: int, seed: int) -> None:
    """The same calls directly and through us; the same seed gives the same calls."""
    states = []
    failures = []
    for name in ("direct", "through"):
        world = folder / name / "world"
        world.mkdir(parents=True)
        make_world(world)
        servers = {one: entry for one, entry in entries(installed, world).items() if one in _SERVERS}
        steps = random_calls(world, calls, seed)
        if name == "direct":
            failures.append(await _run_directly(servers, steps))
        else:
            async with connected(through(servers, folder / name / "own")) as around:
                failures.append(await _run(around, steps, qualified=True))
        states.append(_state(world))
    differences = [key for key in sorted({*states[0], *states[1]}) if states[0].get(key) != states[1].get(key)]
    measured.notes += [f"differs: {one}" for one in differences[:5]]
    measured.rows.append(
        {"server": "all", "what": f"{calls} random calls, failed", "directly": failures[0], "through": failures[1]}
    )
    measured.bars += [
        at_least("random calls", calls, 5_000),
        at_most("changed side effects", len(differences), 0),
        at_most("calls that fail on one side only", abs(failures[0] - failures[1]), 0),
    ]


def random_calls(world: Path, count: int, seed: int) -> list[tuple[str, str, dict[str, Any]]]:
    draw = random.Random(seed)
    files = world / "files"
    found: list[tuple[str, str, dict[str, Any]]] = []
    for number in range(count):
        path = str(files / f"{draw.choice(WORDS)}_{draw.randrange(20)}.txt")
        other = str(files / f"moved_{draw.randrange(40)}.txt")
        word, price = draw.choice(WORDS), draw.randrange(1_000)
        choices: list[tuple[str, str, dict[str, Any]]] = [
            (
                "filesystem",
                "write_file",
                {"path": path, "content": f"{word} \u00e9\u4e2d '\"$ {number}\n" * draw.randrange(1, 60)},
            ),
            ("filesystem", "edit_file", {"path": path, "edits": [{"oldText": word, "newText": f"{word}{price}"}]}),
            ("filesystem", "move_file", {"source": path, "destination": other}),
            ("filesystem", "create_directory", {"path": str(files / f"dir_{draw.randrange(30)}" / word)}),
            ("filesystem", "read_text_file", {"path": path}),
            (
                "sqlite",
                "write_query",
                {"query": f"UPDATE orders SET price = {price} WHERE id = {draw.randrange(1, 400)}"},
            ),
            (
                "sqlite",
                "write_query",
                {"query": f"INSERT INTO orders (name, price, state) VALUES ('{word} \u00fc', {price}, 'open')"},
            ),
            ("sqlite", "write_query", {"query": f"DELETE FROM orders WHERE price = {price}"}),
            ("sqlite", "read_query", {"query": f"SELECT * FROM orders WHERE price > {price}"}),
            (
                "memory",
                "create_entities",
                {"entities": [{"name": f"{word}{price}", "entityType": "x", "observations": [f"saw {number}"]}]},
            ),
            ("memory", "delete_entities", {"entityNames": [f"{word}{price}"]}),
            (
                "memory",
                "create_relations",
                {"relations": [{"from": word, "to": f"{word}{price}", "relationType": "has"}]},
            ),
        ]
        found.append(draw.choice(choices))
    return found


async def _run_directly(servers: dict[str, dict[str, Any]], steps: list[tuple[str, str, dict[str, Any]]]) -> int:
    """Servers do not know each other, so each can have its calls in one go."""
    failed = 0
    for name, entry in servers.items():
        async with connected(direct(name, entry)) as server:
            failed += await _run(server, [step for step in steps if step[0] == name], qualified=False)
    return failed


async def _run(server: ServerConnection, steps: list[tuple[str, str, dict[str, Any]]], *, qualified: bool) -> int:
    failed = 0
    for name, tool, arguments in steps:
        result = await ask(server, f"{name}/{tool}" if qualified else tool, arguments)
        failed += bool(result.get("isError")) or texts(result).startswith("Database error")
    return failed


def _state(world: Path) -> dict[str, str]:
    """Every file with its content, every row, the graph."""
    found: dict[str, str] = {}
    for path in sorted((world / "files").rglob("*")):
        held = sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        found[path.relative_to(world).as_posix()] = held
    base = sqlite3.connect(world / "shop.db")
    for place, row in enumerate(base.execute("SELECT * FROM orders ORDER BY id")):
        found[f"row {place}"] = repr(row)
    base.close()
    found["memory"] = (world / "memory.jsonl").read_text()
    return found
