"""How soon an answer is right after files changed, without anyone asking for a refresh."""

from __future__ import annotations

import time

from laconic.index.workspace_index import Index
from laconic_benchmarks.index.measured import Measured, Place, spread
from laconic_benchmarks.report import at_least, at_most

_ROUNDS = 30
_MASS = 500


def measure(place: Place) -> Measured:
    index = Index.open(place.code, place.scratch / "fresh")
    index.build(seconds=60)
    for _ in range(3):
        index.refresh()
    files = [file.path for file in index.store.files() if file.state == "parsed" and file.language == "python"]
    step = max(1, len(files) // _ROUNDS)
    times: list[float] = []
    right = 0
    for number, path in enumerate(files[::step][:_ROUNDS]):
        _append(place, path, f"single_{number}")
        started = time.perf_counter()
        right += _finds(index, f"single_{number}", path)
        times.append(time.perf_counter() - started)
    many = files[:_MASS]
    for path in many:
        _append(place, path, "massive")
    started = time.perf_counter()
    index.refresh(patience=60)
    found = len(index.store.symbols_named("massive"))
    mass = time.perf_counter() - started
    index.close()
    row = {"what": "one changed file", **spread(times)}
    return Measured(
        [row, {"what": f"{len(many)} changed files", "n": 1, "max ms": mass * 1000}],
        [
            at_most("slowest right answer after one change, s", max(times), 0.3),
            at_least("right answers after one change", right / len(times), 1),
            at_most("seconds per 100 of 500 changed files", mass / len(many) * 100, 1),
            at_least("changed files that are right afterwards", found / len(many), 1),
        ],
    )


def _append(place: Place, path: str, name: str) -> None:
    with (place.code / path).open("a") as file:
        file.write(f"\n\ndef {name}():\n    return None\n")


def _finds(index: Index, name: str, path: str) -> bool:
    index.refresh()
    found = [symbol for symbol in index.store.symbols_named(name) if symbol.name == name]
    files = [index.store.file_by_id(symbol.file) for symbol in found]
    return [file.path for file in files if file] == [path]
