"""Symbol lookup and text search: times of a warm index, ripgrep beside it, and the memory of a process that asks."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from laconic.config import child_environment
from laconic.index.text_search import TextQuery, find
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic_benchmarks.index.measured import Measured, Place, python, spread
from laconic_benchmarks.report import at_most

_ROUNDS = 5
_QUESTIONS = "questions/questions.json"


class Asked(msgspec.Struct):
    """What a child that asks everything tells."""

    symbols: list[float]
    texts: dict[str, float]  # the best time of each
    lines: dict[str, int]
    resident_mb: float


def measure(place: Place) -> Measured:
    (place.data / _QUESTIONS).stat()  # before the work begins
    cache = place.scratch / "query"
    index = Index.open(place.code, cache)
    index.build(seconds=60)
    index.close()
    told = place.scratch / "asked.json"
    words = python("-m", "laconic_benchmarks.index.querying", str(place.code), str(cache), str(place.data), str(told))
    subprocess.run(words, env=child_environment(), capture_output=True, check=True)
    asked = msgspec.json.decode(told.read_bytes(), type=Asked)
    grep = {text: min(_ripgrep(place.code, text) for _ in range(_ROUNDS)) for text in asked.texts}
    rows: list[dict[str, Cell]] = [
        {"what": "symbol lookup", **spread(asked.symbols)},
        {"what": "text search", **spread(list(asked.texts.values()))},
        {"what": "ripgrep", **spread(list(grep.values()))},
    ]
    symbols = sorted(asked.symbols)
    slower = [text for text, seconds in asked.texts.items() if seconds > grep[text]]
    return Measured(
        rows,
        [
            at_most("symbol lookup p50, ms", symbols[len(symbols) // 2] * 1000, 5),
            at_most("symbol lookup p95, ms", symbols[int(len(symbols) * 0.95)] * 1000, 30),
            at_most("text search / ripgrep, all texts", sum(asked.texts.values()) / sum(grep.values()), 1),
            at_most("working memory, MB", asked.resident_mb, 180),
        ],
        [f"texts slower than ripgrep: {', '.join(slower) or 'none'}"],
    )


def _ripgrep(code: Path, text: str) -> float:
    program = Path(sys.executable).with_name("rg")
    started = time.perf_counter()
    subprocess.run(
        [
            str(program if program.exists() else "rg"),
            "--line-number",
            "--smart-case",
            "--fixed-strings",
            text,
            str(code),
        ],
        stdout=subprocess.PIPE,
        check=False,
    )
    return time.perf_counter() - started


def _ask(code: Path, cache: Path, data: Path) -> Asked:
    questions = msgspec.json.decode((data / _QUESTIONS).read_bytes())
    index = Index.open(code, cache)
    for _ in range(3):
        index.refresh()
    symbols: list[float] = []
    texts: dict[str, float] = {}
    lines: dict[str, int] = {}
    for _ in range(_ROUNDS):
        for name in questions["symbols"]["django"]:
            started = time.perf_counter()
            _look_up(index, name)
            symbols.append(time.perf_counter() - started)
        for text in questions["texts"]["django"]:
            started = time.perf_counter()
            lines[text] = _search(index, text)
            texts[text] = min(time.perf_counter() - started, texts.get(text, 1e9))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    index.close()
    return Asked(symbols, texts, lines, peak)


def _look_up(index: Index, name: str) -> None:
    """A lookup as a tool does it: fresh, found, the quoted files checked."""
    index.refresh()
    owner, _, last = name.rpartition(".")
    found = [symbol for symbol in index.store.symbols_named(last) if symbol.qualified.endswith(name) or not owner]
    files = [index.store.file_by_id(symbol.file) for symbol in found[:50]]
    index.ensure(file.path for file in files if file)


def _search(index: Index, text: str) -> int:
    """A search as a tool does it: every line found and counted, those that are shown with the symbol around them."""
    index.refresh()
    found = find(index.store, index.root, TextQuery(text))
    for file in found.files[:50]:
        for line in file.lines[:4]:
            index.store.symbol_at(file.file, line.number)
    index.ensure(file.path for file in found.files[:50])
    return found.total


if __name__ == "__main__":
    _code, _cache, _data, _told = map(Path, sys.argv[1:])
    _told.write_bytes(msgspec.json.encode(_ask(_code, _cache, _data)))
