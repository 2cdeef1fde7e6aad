"""How long pages of the dashboard take with a thousand recorded sessions, and with none.

The dashboard runs as its own process. Each page is asked for first by a process that has just started, then again and
again while the record changes in between, so that nothing can be answered from memory.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

from laconic.config import Settings, child_environment, load
from laconic.render.table import Cell
from laconic.serving.access_tokens import HEADER
from laconic.sessions.spending import Spending
from laconic.sessions.turn_record import TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic_benchmarks.browser import browser, installed
from laconic_benchmarks.gateway_processes import cpu
from laconic_benchmarks.recorded import fill
from laconic_benchmarks.report import Options, Report, at_most, versions

_SESSIONS: Final = 1_000
_ROUNDS: Final = 15
_MOST: Final = 300.0  # milliseconds
_PAGES: Final = (
    "",
    "sessions",
    "session?name={}",
    "spent",
    "causes",
    "tools",
    "models",
    "?days=0",
    "sessions?order=saved&page=20",
)


class Times(msgspec.Struct):
    """What one page took, in milliseconds."""

    first: float = 0.0  # of a process that has just started
    again: list[float] = []
    cpu: float = 0.0  # of the server, for each of these
    loads: list[float] = []  # in a browser, until all is drawn; none without a browser
    size: int = 0


def run(options: Options) -> Report:
    """Measure; the first word may give another number of sessions."""
    sessions = int(options.args[0]) if options.args else _SESSIONS
    with tempfile.TemporaryDirectory() as folder:
        full, empty = _settings(Path(folder) / "full"), _settings(Path(folder) / "empty")
        fill(full, sessions, time.time())
        with closing(Spending(full.cache_dir() / FILE)) as spending:
            (longest,) = spending.sessions("turns", 1)
            turns = sum(hour.turns for hour in spending.hours())
        times = asyncio.run(_times(full, longest.session, installed()))
        nothing = asyncio.run(_times(empty, "", None))
    rows: list[dict[str, Cell]] = []
    for page, found in times.items():
        usual = statistics.median(found.again)
        rows.append(
            {
                "page": page.format("longest") or "overview",
                "kB": round(found.size / 1000, 1),
                "cpu_ms": round(found.cpu, 1),
                "first_ms": round(found.first, 1),
                "p50_ms": round(usual, 1),
                "times an empty record": round(usual / statistics.median(nothing[page].again), 2),
                "browser_ms": round(statistics.median(found.loads), 1) if found.loads else None,
            }
        )
    slowest = {name: max(float(row[name] or 0) for row in rows) for name in ("first_ms", "p50_ms", "browser_ms")}
    bars = [
        at_most("slowest page, first answer of a process, ms", slowest["first_ms"], _MOST),
        at_most("slowest page, p50 while the record changes, ms", slowest["p50_ms"], _MOST),
    ]
    if slowest["browser_ms"]:
        bars.append(at_most("slowest page, p50 until loaded in Chromium, ms", slowest["browser_ms"], _MOST))
    return Report(
        "dashboard",
        f"{sessions} generated sessions, {turns} turns, 100000 calls of tools; the longest session has {longest.turns}",
        "none",
        tuple(rows),
        tuple(bars),
        (f"load of the machine: {os.getloadavg()[0]:.1f}",),
        versions=versions("starlette", "uvicorn", "msgspec"),
    )


def _settings(folder: Path) -> Settings:
    return load(flags={"cache_dir": str(folder)}, environ={}, file=folder / "none.toml")


async def _times(settings: Settings, session: str, program: str | None) -> dict[str, Times]:
    """Every page, each from a process of its own; a turn is recorded before each answer but the first."""
    found: dict[str, Times] = {}
    for page in _PAGES:
        async with _process(settings) as (link, pid), _client(link, check=bool(session)) as client:
            url = f"{_base(link)}{page.format(session)}"
            times = found[page] = Times()
            times.first, times.size = await _ask(client, url)
            spent = cpu(pid)
            for _ in range(_ROUNDS):
                _record(settings)
                times.again.append((await _ask(client, url))[0])
            times.cpu = 1000 * (cpu(pid) - spent) / _ROUNDS
            if program is not None:
                times.loads = await _loads(program, link, url, settings)
    return found


def _base(link: str) -> str:
    return link.partition("?")[0]


def _client(link: str, *, check: bool = False) -> aiohttp.ClientSession:
    """A client that sends the token of the link that was printed."""
    return aiohttp.ClientSession(headers={HEADER: link.partition("?token=")[2]}, raise_for_status=check)


async def _loads(program: str, link: str, url: str, settings: Settings) -> list[float]:
    found = []
    async with browser(program) as tab:
        await tab.load(link)
        await tab.load(url)
        for _ in range(_ROUNDS):
            _record(settings)
            found.append(await tab.load(url))
    return found


def _record(settings: Settings) -> None:
    with closing(Turns(settings.cache_dir() / FILE)) as record:
        record.add(TurnRecord(TurnIdentity("another"), time.time(), 200))


async def _ask(client: aiohttp.ClientSession, url: str) -> tuple[float, int]:
    began = time.perf_counter()
    async with client.get(url) as answer:
        body = await answer.read()
    return 1000 * (time.perf_counter() - began), len(body)


@asynccontextmanager
async def _process(settings: Settings) -> AsyncIterator[tuple[str, int]]:
    """A dashboard of its own: the link that it printed, and its process."""
    folder = settings.cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.toml"
    config.write_text(f'cache_dir = "{folder}"\n', "utf-8")
    words = [sys.executable, "-m", "laconic", "dashboard", "--config", str(config)]
    # The environment is stronger than the file.
    own = child_environment({"LACONIC_CACHE_DIR": str(folder), "LACONIC_STATE_DIR": str(folder / "state")})
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, env=own)
    assert process.stdout is not None
    try:
        link = (await process.stdout.readline()).decode().split()[-1]
        async with _client(link) as client:
            await _ask(client, f"{_base(link)}static/icon.svg")  # it has said where before it listens
        yield link, process.pid
    finally:
        process.terminate()
        await process.wait()
