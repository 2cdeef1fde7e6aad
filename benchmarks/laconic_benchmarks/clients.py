"""Many clients at once over HTTP: whether any gets an error, or something that another client asked for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcp import Client

from laconic.config import child_environment
from laconic.render.table import Cell
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_CLIENTS: Final = 8
_SHARED: Final = "shared.py"


@dataclass(slots=True)
class Tally:
    """What the clients saw."""

    sessions: int = 0
    calls: int = 0
    errors: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)  # answers that belong to another session


def run(options: Options) -> Report:
    """Eight clients for a minute, or for as many seconds as the first word says."""
    seconds = float(options.args[0]) if options.args else 60.0
    with tempfile.TemporaryDirectory() as folder:
        root = workspace(Path(folder) / "code", _CLIENTS)
        with serving(root, Path(folder) / "cache") as url:
            tally = asyncio.run(crowd(url, _CLIENTS, seconds))
    rows: list[dict[str, Cell]] = [
        {"clients": _CLIENTS, "seconds": seconds, "sessions": tally.sessions, "calls": tally.calls}
    ]
    return Report(
        "clients",
        f"a workspace of {_CLIENTS + 1} files",
        "none",
        tuple(rows),
        (
            at_most("errors", len(tally.errors), 0),
            at_most("answers of another session", len(tally.mixed), 0),
            at_least("sessions", tally.sessions, _CLIENTS),
        ),
        (*tally.errors[:5], *tally.mixed[:5]),
        versions("mcp"),
    )


def workspace(root: Path, clients: int) -> Path:
    """A file that everyone reads, and one for each client, which names it."""
    root.mkdir(parents=True)
    (root / _SHARED).write_text("".join(f"def shared_{i}():\n    return {i}\n" for i in range(20)))
    for number in range(clients):
        (root / f"own_{number}.py").write_text(f"def owned_by_{number}():\n    return 'mark-{number}'\n")
    return root


@contextmanager
def serving(root: Path, cache: Path) -> Iterator[str]:
    """Our server on a free port."""
    server = subprocess.Popen(
        [sys.executable, "-m", "laconic", "mcp", "--root", str(root), "--http", "127.0.0.1:0", "--no-token"],
        stdout=subprocess.PIPE,
        env=child_environment({"LACONIC_CACHE_DIR": str(cache)}),
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().decode().split()[-1]
    finally:
        server.terminate()
        try:
            server.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()


async def crowd(url: str, clients: int, seconds: float) -> Tally:
    """All clients, session after session, until the time is over; each has at least one session."""
    tally = Tally()
    until = time.monotonic() + seconds

    async def client(number: int) -> None:
        while True:
            await _session(url, number, tally)
            if time.monotonic() >= until:
                return

    await asyncio.gather(*(client(number) for number in range(clients)))
    return tally


async def _session(url: str, number: int, tally: Tally) -> None:
    """One session: what is new to it must come whole, what it has had may not, and all of it must be its own."""
    async with Client(url, mode="legacy") as client:
        tally.sessions += 1
        first = await _ask(client, tally, "read", {"targets": [_SHARED]})
        if "def shared_19" not in first:
            tally.mixed.append(f"client {number} did not get {_SHARED} whole: {first[:200]}")
        again = await _ask(client, tally, "read", {"targets": [_SHARED]})
        if again == first:
            tally.mixed.append(f"client {number} got {_SHARED} twice: its session was not kept")
        own: tuple[tuple[str, dict[str, object]], ...] = (
            ("read", {"targets": [f"own_{number}.py"]}),
            ("search", {"query": f"owned_by_{number}"}),
            ("inspect", {"symbol": [f"owned_by_{number}"]}),
        )
        for tool, arguments in own:
            text = await _ask(client, tally, tool, arguments)
            if f"owned_by_{number}" not in text:
                tally.mixed.append(f"client {number}, {tool}: {text[:200]}")


async def _ask(client: Client, tally: Tally, tool: str, arguments: dict[str, object]) -> str:
    answer = await client.call_tool(tool, arguments)
    tally.calls += 1
    text = "".join(part.text for part in answer.content if part.type == "text")
    if answer.is_error:
        tally.errors.append(f"{tool}: {text[:200]}")
    return text
