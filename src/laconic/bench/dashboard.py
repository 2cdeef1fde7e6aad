"""How long pages of the dashboard take with a thousand recorded sessions, and with none.

The dashboard runs as its own process. Each page is asked for first by a process that has just started, then again and
again while the record changes in between, so that nothing can be answered from memory.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

import aiohttp

from laconic.bench.recorded import fill
from laconic.bench.report import Cell, Options, Report, at_most, versions
from laconic.config import Settings, load
from laconic.sessions.spending import Spending
from laconic.sessions.turns import FILE, Turn, Turns, Who

_SESSIONS: Final = 1_000
_ROUNDS: Final = 9
_MOST: Final = 300.0  # milliseconds
_PAGES: Final = (
    "",
    "sessions",
    "session?name={}",
    "spent",
    "tools",
    "models",
    "?days=0",
    "sessions?order=saved&page=20",
)


def run(options: Options) -> Report:
    """Measure; the first word may give another number of sessions."""
    sessions = int(options.args[0]) if options.args else _SESSIONS
    with tempfile.TemporaryDirectory() as folder:
        full, empty = _settings(Path(folder) / "full"), _settings(Path(folder) / "empty")
        fill(full, sessions, time.time())
        with closing(Spending(full.cache_dir() / FILE)) as spending:
            (longest,) = spending.sessions("turns", 1)
            turns = sum(hour.turns for hour in spending.hours())
        times = asyncio.run(_times(full, longest.session))
        nothing = asyncio.run(_times(empty, ""))
    rows: list[dict[str, Cell]] = []
    for page, (first, again, size) in times.items():
        without = nothing[page][1]
        rows.append(
            {
                "page": page.format("longest") or "overview",
                "kB": round(size / 1000, 1),
                "first_ms": round(first, 1),
                "p50_ms": round(statistics.median(again), 1),
                "max_ms": round(max(again), 1),
                "times an empty record": round(statistics.median(again) / statistics.median(without), 2),
            }
        )
    slowest = max(max(first, *again) for first, again, _ in times.values())
    return Report(
        "dashboard",
        f"{sessions} generated sessions, {turns} turns, 100000 calls of tools; the longest session has {longest.turns}",
        "none",
        tuple(rows),
        (at_most("slowest answer of any page, ms", slowest, _MOST),),
        versions=versions("starlette", "uvicorn", "msgspec"),
    )


def _settings(folder: Path) -> Settings:
    return load(flags={"cache_dir": str(folder)}, environ={}, file=folder / "none.toml")


async def _times(settings: Settings, session: str) -> dict[str, tuple[float, list[float], int]]:
    """Milliseconds of the first answer, and of later ones, and bytes, for each page."""
    found = {}
    for page in _PAGES:
        async with _process(settings) as base, aiohttp.ClientSession() as client:
            url = f"{base}{page.format(session)}"
            first, size = await _ask(client, url)
            again = []
            for _ in range(_ROUNDS):
                with closing(Turns(settings.cache_dir() / FILE)) as record:
                    record.add(Turn(Who("another"), time.time(), 200))
                again.append((await _ask(client, url))[0])
            found[page] = (first, again, size)
    return found


async def _ask(client: aiohttp.ClientSession, url: str) -> tuple[float, int]:
    began = time.perf_counter()
    async with client.get(url) as answer:
        body = await answer.read()
    return 1000 * (time.perf_counter() - began), len(body)


@asynccontextmanager
async def _process(settings: Settings) -> AsyncIterator[str]:
    """A dashboard of its own."""
    folder = settings.cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.toml"
    config.write_text(f'cache_dir = "{folder}"\n', "utf-8")
    words = [sys.executable, "-m", "laconic", "dashboard", "--config", str(config)]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().split()[-1]
    finally:
        process.terminate()
        await process.wait()
