"""How soon tools answer on an index that is complete, and how soon the first answer is right while one is being built.

Names are drawn at random from the symbols; common names are those that most files mention.
"""

from __future__ import annotations

import re
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from laconic.config import load
from laconic.index.store.rows import Symbol
from laconic.index.symbol_kinds import CALLABLES
from laconic.render.table import Cell
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.index.measured import Measured, Place, spread
from laconic_benchmarks.report import Bar, at_least, at_most

_SEED: Final = 20
_NAMES: Final = 100
_FEW: Final = 30
_LATE: Final = 0.95
Question = tuple[str, dict[str, object]]
_BARS: Final = {  # milliseconds: of the 95th of a hundred, and of the slowest
    "search of a name": (50, 0),
    "search of a regular expression": (300, 0),
    "references": (300, 0),
    "references of common names": (1000, 0),
    "trace": (1000, 3000),
    "context": (1000, 0),
}


def measure(place: Place) -> Measured:
    cache = place.scratch / "ask"
    soon, right = ask_first(place.code, place.scratch / "first")
    with closing(_open(place.code, cache)) as runtime:
        runtime.index.build(seconds=600)
        asked = ask_all(runtime, Random(_SEED))
    rows: list[dict[str, Cell]] = [{"what": "first answer while building", "n": 1, "max ms": soon * 1000}]
    bars: list[Bar] = [
        at_most("first answer after the start, s", soon, 3),
        at_least("first answer names the symbol that was asked for", float(right), 1),
    ]
    for what, times in asked.items():
        rows.append({"what": what, **spread(times)})
        late, longest = _BARS[what]
        bars.append(at_most(f"{what} p95, ms", sorted(times)[int(len(times) * _LATE)] * 1000, late))
        if longest:
            bars.append(at_most(f"{what} slowest, ms", max(times) * 1000, longest))
    return Measured(rows, bars)


def ask_first(code: Path, cache: Path) -> tuple[float, bool]:
    """Seconds from opening a code base that was never indexed to an answer about a file that is named; is it right?"""
    path, name = _find_last_definition(code)
    started = time.perf_counter()
    with closing(_open(code, cache)) as runtime:
        reply = runtime.call("inspect", {"symbol": [f"{path}::{name}"]})
        seconds = time.perf_counter() - started
    return seconds, path in reply.text and name in reply.text and not reply.failed


def ask_all(runtime: ToolRuntime, random: Random) -> dict[str, list[float]]:
    """Seconds of every answer, by what was asked for."""
    symbols = _draw(runtime, random)
    callables = [symbol for symbol in symbols if symbol.kind in CALLABLES]
    words = [symbol.doc for symbol in symbols if len(symbol.doc.split()) > 5]
    common = _find_common(runtime, callables)
    asked: dict[str, list[Question]] = {what: [] for what in _BARS}
    for symbol in symbols[:_NAMES]:
        asked["search of a name"].append(("search", {"query": symbol.name}))
        pattern = f"/{re.escape(symbol.name)}\\w*\\(/"
        asked["search of a regular expression"].append(("search", {"query": pattern}))
    for symbol in callables[:_FEW]:
        asked["references"].append(("inspect", {"symbol": [symbol.qualified], "only": ["refs"]}))
        asked["trace"].append(("trace", {"symbol": symbol.qualified}))
    for name in common:
        asked["references of common names"].append(("inspect", {"symbol": [name], "only": ["refs"]}))
        asked["trace"].append(("trace", {"symbol": name}))
    for doc in words[:_FEW]:
        asked["context"].append(("context", {"task": doc}))
    runtime.call("search", {"query": "anything"})  # opens what is opened once
    found: dict[str, list[float]] = {}
    for what, questions in asked.items():
        found[what] = []
        for tool, given in questions:
            started = time.perf_counter()
            runtime.call(tool, given)
            found[what].append(time.perf_counter() - started)
    return found


def _open(code: Path, cache: Path) -> ToolRuntime:
    return ToolRuntime(code, load(flags={"cache_dir": str(cache)}), tools())


def _find_last_definition(code: Path) -> tuple[str, str]:
    """A function in a file that a build would reach late."""
    pattern = re.compile(rb"^(?:static |async )*(?:def|func|int|void) (\w+)\(", re.MULTILINE)
    for folder in sorted((each for each in code.iterdir() if each.is_dir()), reverse=True):
        for path in sorted(folder.rglob("*.*"), reverse=True):
            if path.suffix in {".py", ".go", ".c"} and (found := pattern.findall(path.read_bytes())):
                return path.relative_to(code).as_posix(), found[-1].decode()
    raise AssertionError(f"there is no function in {code}")


def _draw(runtime: ToolRuntime, random: Random) -> list[Symbol]:
    """Symbols of random source files, one of each."""
    store = runtime.index.store
    files = [file.id for file in store.files() if file.file_class == "source" and file.defined]
    drawn: list[Symbol] = []
    for number in random.sample(files, min(len(files), 4 * _NAMES)):
        drawn.append(random.choice(store.symbols_in(number)))
    return drawn


def _find_common(runtime: ToolRuntime, symbols: list[Symbol]) -> list[str]:
    """Of these, the names that most files mention."""
    store = runtime.index.store
    names = sorted({symbol.name for symbol in symbols})
    return sorted(names, key=lambda name: -len(store.files_mentioning(name)))[: _FEW // 3]
