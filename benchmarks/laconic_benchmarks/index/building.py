"""The first build: time against the bare parser, memory of all processes, size on disk."""

from __future__ import annotations

import shutil
import subprocess

from laconic.index import catalog
from laconic.index.parse_files import processes
from laconic.index.store import Store
from laconic.index.store.statistics import read_statistics_of_file
from laconic.render.table import Cell
from laconic_benchmarks.index.measured import Measured, Place, children_cpu, python, watched
from laconic_benchmarks.report import at_most

_ROUNDS = 3


def measure(place: Place) -> Measured:
    cache = place.scratch / "build"
    command = python("-m", "laconic", "index", str(place.code))
    watched(command, cache)  # warms the disk cache, and tells which files have a grammar
    file = catalog.place(cache, place.code)
    store = Store.open(file)
    paths = [str(place.code / row.path) for row in store.files() if row.state == "parsed"]
    store.close()
    numbers = read_statistics_of_file(file, place.code)
    best = peak = ratio = 0.0
    rows: list[dict[str, Cell]] = []
    for _ in range(_ROUNDS):
        bare = _bare(paths)
        shutil.rmtree(cache)
        spent = watched(command, cache)
        rows.append({"what": "build", "bare CPU s": bare, "build CPU s": spent.cpu_seconds, "peak MB": spent.peak_mb})
        peak = max(peak, spent.peak_mb)
        if not ratio or spent.cpu_seconds / bare < ratio:
            best, ratio = spent.cpu_seconds, spent.cpu_seconds / bare
    sources = sum(
        path.stat().st_size for path in place.code.rglob("*") if path.is_file() and ".git" not in path.parts
    )
    share = numbers.index_bytes / sources
    note = (
        f"{numbers.files} files, {numbers.parsed} parsed, {numbers.symbols} symbols; "
        f"index {numbers.index_bytes / 1e6:.1f} MB, all files {sources / 1e6:.1f} MB, "
        f"text {numbers.source_bytes / 1e6:.1f} MB; best build {best:.1f} CPU s with "
        f"{processes()} parsers"
    )
    bars = [
        at_most("CPU of the build / bare parse and query", ratio, 4),
        at_most("peak memory of all processes, MB", peak, 400),
        at_most("index size / size of the sources", share, 1),
    ]
    return Measured(rows, bars, [note])


def _bare(paths: list[str]) -> float:
    """Processor time of nothing but parsing and querying."""
    before = children_cpu()
    command = python("-m", "laconic_benchmarks.index.bare", str(processes()))
    subprocess.run(command, input="\0".join(paths).encode(), check=True)
    return children_cpu() - before
