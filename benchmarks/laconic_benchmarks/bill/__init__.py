"""Claimed savings against true ones: real clients, wrapped and plain, against a provider that bills.

Both runs of a scenario are really made. The provider counts every prompt and keeps a prompt cache by its own rules; what
it billed is the truth. The claim is what `laconic stats` says of the wrapped run. Needs npm, which installs the clients
into the cache folder.

A client may send the same session differently from run to run: Gemini CLI sometimes repeats results when it resumes. Two
runs whose requests carry different numbers of results are no pair, and are made again; the report says how often.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.bill.clients import CLIENTS, COMPACTING, BilledClient, install_client
from laconic_benchmarks.bill.runs import RunResult, run_client
from laconic_benchmarks.bill.scenarios import COMPACTED, SCENARIOS, Scenario, draw_scenarios
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_TRIES: Final = 4  # pairs of runs, until both sent the same session
_NOISE: Final = 0.1  # points by which two runs of the same client differ: times and ids are part of its prompts


def run(options: Options) -> Report:
    """All scenarios with all clients; with words, those clients and those scenarios only; with a seed, random ones."""
    wanted = set(options.args)
    scenarios = [scenario for scenario in SCENARIOS if scenario.name in wanted] or list(SCENARIOS)
    if COMPACTED.name in wanted:
        scenarios = [COMPACTED]
    known: tuple[BilledClient, ...] = CLIENTS
    if scenarios == [COMPACTED]:
        known = COMPACTING
    clients = [client for client in known if client.name in wanted] or list(known)
    if options.seed:
        scenarios = list(draw_scenarios(options.seed))
    if options.quick:
        scenarios = scenarios[:2]
    rows: list[dict[str, Cell]] = []
    with TemporaryDirectory(prefix="laconic-bill-") as folder:
        for client in clients:
            path = install_client(client, Path(options.cache).parent / "clients")
            for scenario in scenarios:
                options.progress(f"{client.name}: {scenario.name}")
                rows.append(_run_pair(client, scenario, path, Path(folder)))
    above = [float(row["claimed"] or 0) - float(row["true"] or 0) for row in rows]
    saved = [float(row["true"] or 0) for row in rows]
    return Report(
        "bill",
        f"{len(rows)} pairs of runs",
        ", ".join(sorted({counter(client.model).name for client in clients})),
        tuple(rows),
        (
            at_most("points between the claimed and the true saving, at most", 100 * max(map(abs, above)), 3),
            at_most("points by which a claim is above the truth, at most", 100 * max(above), 1),
            at_least("points saved in the worst scenario", 100 * min(saved), -_NOISE),
        ),
        versions=versions() | {client.name: client.version for client in clients},
    )


def _run_pair(client: BilledClient, scenario: Scenario, path: str, folder: Path) -> dict[str, Cell]:
    tried = 0
    while True:
        plain = _run(client, scenario, path, folder, wrapped=False)
        wrapped = _run(client, scenario, path, folder, wrapped=True)
        tried += 1
        if plain.results == wrapped.results or scenario.is_compacted or tried == _TRIES:
            return {**_row(client, scenario, plain, wrapped), "made again": tried - 1}


def _run(client: BilledClient, scenario: Scenario, path: str, folder: Path, *, wrapped: bool) -> RunResult:
    """In a home of the same name for both runs of a pair: its name is part of every prompt."""
    home = folder / "home"
    home.mkdir()
    try:
        return asyncio.run(run_client(client, scenario, path, home, wrapped=wrapped))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _row(client: BilledClient, scenario: Scenario, plain: RunResult, wrapped: RunResult) -> dict[str, Cell]:
    return {
        "client": client.name,
        "scenario": scenario.name,
        "requests": wrapped.requests,
        "plain tokens": plain.tokens,
        "wrapped tokens": wrapped.tokens,
        "plain $": plain.dollars,
        "wrapped $": wrapped.dollars,
        "true": 1 - wrapped.dollars / plain.dollars,
        "claimed": wrapped.claimed,
    }
