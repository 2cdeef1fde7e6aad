"""A team's gateway: three replicas behind HAProxy with one PostgreSQL, all real and on loopback.

Words choose parts: `replicas` (recorded sessions, each turn on a random replica, one of which is killed every few
seconds, beside the same sessions through one process on files), `restart` (each replica ended and started again under
load), `away` (the database stopped under load), `speed` (CPU and added time at 100k tokens, files beside PostgreSQL),
`keys` (budgets of 500 keys under load, and a key that is revoked), `hostile` (20,000 calls outside a key's rights),
`index` (fetched repositories and forks of them, indexed by two workers that are killed; LACONIC_BENCH_REPOSITORIES of
them, 100 otherwise), `outsiders` (20,000 calls to that index for repositories that a key may not read).
Without words all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

from laconic_benchmarks.report import Bar, Options, Report, versions
from laconic_benchmarks.team.keys import measure_hostile, measure_keys
from laconic_benchmarks.team.organisation import measure_index
from laconic_benchmarks.team.outage import measure_away
from laconic_benchmarks.team.outsiders import measure_outsiders
from laconic_benchmarks.team.replicas import measure_replicas, measure_restart
from laconic_benchmarks.team.speed import measure_speed

Figures = tuple[list[dict[str, str | int | float | None]], list[Bar]]
Part = Callable[[Options], Coroutine[None, None, Figures]]
_PARTS: Final[dict[str, Part]] = {
    "replicas": measure_replicas,
    "restart": measure_restart,
    "away": measure_away,
    "speed": measure_speed,
    "keys": measure_keys,
    "hostile": measure_hostile,
    "index": measure_index,
    "outsiders": measure_outsiders,
}


def run(options: Options) -> Report:
    """Measure."""
    rows: list[dict[str, str | int | float | None]] = []
    bars: list[Bar] = []
    for name in options.args or tuple(_PARTS):
        options.progress(name)
        more, held = asyncio.run(_PARTS[name](options))
        rows += more
        bars += held
    return Report(
        "team",
        "recorded sessions (the part for development), Anthropic format; PostgreSQL and HAProxy on loopback",
        "none",
        tuple(rows),
        tuple(bars),
        versions=versions("psycopg", "aiohttp", "uvicorn"),
    )
