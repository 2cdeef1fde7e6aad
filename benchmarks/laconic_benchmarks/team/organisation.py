"""An index for an organisation: fetched repositories and forks of them, two workers that are killed in turn."""

from __future__ import annotations

import asyncio
import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import aiohttp

from laconic.config import first_variable
from laconic.index.store.content_store import ContentStore
from laconic.organisation.folder import OrganisationFolder
from laconic_benchmarks.gateway_processes import cpu
from laconic_benchmarks.report import Bar, Options, at_least, at_most
from laconic_benchmarks.team.forks import BenchRepository, make_repositories, push
from laconic_benchmarks.team.organisation_cluster import OrganisationClient, OrganisationCluster

Row = dict[str, str | int | float | None]
FORKS: Final = 4  # of each repository
_SECONDS: Final = 3_600.0  # for the first index
_KILL: Final = 10.0  # seconds between two kills
_PUSHES: Final = 20
_CLONES: Final = 10
_QUESTIONS: Final = 60
_SENTENCES: Final = (
    "how are routes matched against a request",
    "parse command line options",
    "open a database connection",
    "write a log record as json",
    "validate user input",
    "where are cookies signed",
    "retry after a timeout",
    "escape html in a template",
    "read settings from the environment",
    "compare two versions",
)


def count_repositories(options: Options) -> int:
    """Fetched repositories: as many as the caller wants, and there are."""
    return int(first_variable(("LACONIC_BENCH_REPOSITORIES",)) or ("3" if options.quick else "100"))


async def measure_index(options: Options) -> tuple[list[Row], list[Bar]]:
    with TemporaryDirectory(prefix="laconic-forks-") as folder, OrganisationCluster() as cluster:
        repositories = make_repositories(Path(options.mirror), Path(folder), count_repositories(options), FORKS)
        options.progress(f"{len(repositories)} repositories")
        cluster.register(repositories)
        row = _index(cluster, options)
        cluster.start_server()
        async with aiohttp.ClientSession() as client:
            key = cluster.make_key("alice", "*")
            asking = OrganisationClient(client, cluster.base, key)
            await asking.wait_until_ready()
            visible = await _push(asking, repositories)
            across, used = await _ask_all(asking, repositories, cluster.server.pid)
        with_server, cpu_with = _clone(cluster, repositories, key)
        alone, cpu_alone = _clone(cluster, repositories, "")
    first = _percentile(with_server, 1.0)
    rows = [
        row,
        _row("a push is visible", visible),
        _row("a question across all", across),
        _row("the same, CPU of the server", used),
        _row("first question in a fresh clone", with_server),
        _row("the same, CPU", cpu_with),
        _row("first question without the server", alone),
        _row("the same, CPU", cpu_alone),
    ]
    return rows, [
        at_most("repositories that were not indexed", len(repositories) - int(row["indexed"] or 0), 0),
        at_most("contents parsed more than once", int(row["parsed"] or 0) - int(row["contents"] or 0), 0),
        at_most("seconds until a push is visible", max(visible), 5),
        at_most("seconds of a question across all, p95", _percentile(across, 0.95), 1.5),
        at_most("seconds until a fresh clone answers", first, 2),
        at_least("repositories", len(repositories), 500),
    ]


def _index(cluster: OrganisationCluster, options: Options) -> Row:
    """From nothing, while one of the workers is killed every few seconds during the first minute."""
    started = time.monotonic()
    cluster.start_workers()
    kills = 0
    known = cluster.wait_until_indexed(_KILL)
    while kills < 6 and not all(each.published for each in known):
        cluster.kill_worker(kills % 2)
        kills += 1
        known = cluster.wait_until_indexed(_KILL)
    known = cluster.wait_until_indexed(_SECONDS)
    seconds = time.monotonic() - started
    folder = OrganisationFolder.of(cluster.settings)
    with closing(ContentStore(folder.contents)) as contents:
        kept, parsed = contents.count()
    indexed = [each for each in known if each.published]
    options.progress(f"indexed in {seconds:.0f} s")
    return {
        "part": "index",
        "repositories": len(known),
        "families": len({each.family for each in indexed}),
        "indexed": len(indexed),
        "seconds": round(seconds, 1),
        "kills": kills,
        "contents": kept,
        "parsed": parsed,
        "disk_mb": round(_size(folder.root) / 1e6),
    }


async def _push(asking: OrganisationClient, repositories: Sequence[BenchRepository]) -> list[float]:
    """Seconds from a push to the first answer that has it."""
    waits: list[float] = []
    for number, repository in enumerate(random.Random(7).sample(list(repositories), min(_PUSHES, len(repositories)))):
        name = push(repository, number + 1)
        started = time.monotonic()
        await asking.report_push(repository)
        while time.monotonic() < started + 60:
            if f"def {name}" in await asking.ask("search", query=name, workspace=repository.name):
                break
            await asyncio.sleep(0.05)
        waits.append(time.monotonic() - started)
    return waits


async def _ask_all(
    asking: OrganisationClient, repositories: Sequence[BenchRepository], server: int
) -> tuple[list[float], list[float]]:
    """Seconds, and of CPU, of questions to everything: names, sentences, references, tasks, after four to warm up."""
    chance = random.Random(11)
    names = ("parse", "Router", "request", "Logger", "encode", "Config", "handler", "escape", "Session", "render")
    waits: list[float] = []
    used: list[float] = []
    for number in range(_QUESTIONS + 4):
        secret = f"helper_{chance.choice(repositories).secret}"
        questions = (
            ("search", {"query": chance.choice((*names, secret))}),
            ("search", {"query": chance.choice(_SENTENCES)}),
            ("inspect", {"symbol": chance.choice(names)}),
            ("context", {"task": chance.choice(_SENTENCES)}),
        )
        tool, arguments = questions[number % len(questions)]
        started, before = time.monotonic(), cpu(server)
        await asking.ask(tool, **arguments)
        if number >= len(questions):
            waits.append(time.monotonic() - started)
            used.append(cpu(server) - before)
    return waits, used


def _clone(
    cluster: OrganisationCluster, repositories: Sequence[BenchRepository], key: str
) -> tuple[list[float], list[float]]:
    """Seconds, and of CPU, of the first command in fresh clones, from the start of the program to its end."""
    waits: list[float] = []
    used: list[float] = []
    for repository in random.Random(13).sample(list(repositories), min(_CLONES, len(repositories))):
        with TemporaryDirectory() as place:
            clone = Path(place) / "clone"
            subprocess.run(
                ["git", "clone", "--quiet", "--depth=1", f"file://{repository.path}", str(clone)], check=True
            )
            own = {"LACONIC_CACHE_DIR": f"{place}/cache", "LACONIC_STATE_DIR": f"{place}/state", "LACONIC_STORE": ""}
            if key:
                own |= {
                    "LACONIC_INDEX_SERVER": cluster.base,
                    "LACONIC_INDEX_SERVER_KEY": "env:BENCH_KEY",
                    "BENCH_KEY": key,
                }
            started, before = time.monotonic(), _children_cpu()
            done = subprocess.run(
                [sys.executable, "-m", "laconic", "search", f"helper_{repository.secret}"],
                cwd=clone,
                env=cluster.environment(own),
                capture_output=True,
                text=True,
                check=False,
            )
            waits.append(time.monotonic() - started)
            used.append(_children_cpu() - before)
            if f"helper_{repository.secret}(value)" not in done.stdout:
                raise AssertionError(f"a wrong first answer: {done.stdout[:300]}{done.stderr[:300]}")
    return waits, used


def _children_cpu() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _row(part: str, waits: Sequence[float]) -> Row:
    return {
        "part": part,
        "times": len(waits),
        "p50_s": round(_percentile(waits, 0.5), 2),
        "p95_s": round(_percentile(waits, 0.95), 2),
        "most_s": round(max(waits), 2),
    }


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            total += file.stat().st_size
    return total
