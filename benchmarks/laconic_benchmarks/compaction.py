"""One session of thirty calls that comes back to places it has seen: what its second half costs, and alone.

What the calls of the second half show on their own must stand in the answers of the session up to then.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Final

from laconic.index.store import File, Symbol
from laconic.render.table import Cell
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic_benchmarks.calls import Arguments
from laconic_benchmarks.corpus import DJANGO, sdist
from laconic_benchmarks.laws import opened
from laconic_benchmarks.report import Options, Report, at_least, versions

_SEEDS: Final = 8  # sessions; the first word for the benchmark is another number
_PLACES: Final = 6  # functions that a session is about
_BODY: Final = range(8, 60)  # lines of a function that is worth coming back to
_SPAN: Final = re.compile(r"\d+(?:-\d+)?$")
_NUMBER: Final = re.compile(r"^\s*[\d?-]+[\t ]")


def run(options: Options) -> Report:
    """Sessions with fixed seeds on one large code base."""
    cache = Path(options.cache)
    runtime = opened(sdist(DJANGO, cache), cache / "indexes")
    rows: list[dict[str, Cell]] = []
    for seed in range(int(options.args[0]) if options.args else _SEEDS):
        kept, alone, found = halves(runtime, thirty(runtime, Random(seed)))
        rows.append({"seed": seed, "session": kept, "alone": alone, "saved": 1 - kept / alone, "findable": found})
    runtime.close()
    saved = [float(row["saved"] or 0) for row in rows]
    return Report(
        "compaction",
        f"{len(rows)} sessions of 30 calls on {DJANGO} sdist",
        "o200k_base",
        tuple(rows),
        (
            at_least("tokens saved in the second half, on average", sum(saved) / len(saved), 0.25),
            at_least("tokens saved in the second half, at the least", min(saved), 0.25),
            at_least("lines that can be found all the same", min(float(row["findable"] or 0) for row in rows), 0.99),
        ),
        versions=versions("splintr-rs"),
    )


def halves(runtime: ToolRuntime, calls: list[tuple[str, Arguments]]) -> tuple[int, int, float]:
    """Tokens of the second half in one session and alone, and the share of its lines that the session showed."""
    session, seen = Session(), set[str]()
    kept = alone = found = wanted = 0
    for at, (tool, given) in enumerate(calls):
        reply = runtime.call(tool, given, session)
        seen |= _lines(reply.text)
        if at >= len(calls) // 2:
            other = runtime.call(tool, given)
            kept, alone = kept + reply.tokens, alone + other.tokens
            shown = _lines(other.text)
            wanted, found = wanted + len(shown), found + len(shown & seen)
    return kept, alone, found / max(1, wanted)


def _lines(text: str) -> set[str]:
    """The lines of an answer without their numbers; footers and headings are no answers."""
    lines = (_NUMBER.sub("", line).strip() for line in text.split("\n"))
    return {
        line for line in lines if len(line) > 3 and not line.startswith(("[", "(", "…")) and not _SPAN.match(line)
    }


def thirty(runtime: ToolRuntime, random: Random) -> list[tuple[str, Arguments]]:
    """Look around, look closely, then come back to what was seen, with one new question."""
    store = runtime.index.store
    files = [file for file in store.files() if file.file_class == "source"]
    random.shuffle(files)
    places: list[tuple[File, Symbol]] = []
    for file in files:
        inner = [s for s in store.symbols_in(file.id) if len(s.span) in _BODY and s.kind in {"function", "method"}]
        if inner and len(places) < _PLACES:
            places.append((file, random.choice(inner)))
    inspects: list[tuple[str, Arguments]] = [("inspect", {"symbol": f"{f.path}::{s.qualified}"}) for f, s in places]
    ranges = [f"{file.path}:{max(1, symbol.start - 5)}-{symbol.end + 5}" for file, symbol in places]
    reads: list[tuple[str, Arguments]] = [("read", {"targets": [place]}) for place in ranges]
    searches: list[tuple[str, Arguments]] = [("search", {"query": symbol.name}) for _, symbol in places]
    task = f"{places[0][1].name} and {places[-1][1].name} give a wrong result"
    first: list[tuple[str, Arguments]] = [("map", {}), *searches[:4], *inspects[:5], *reads[:5]]
    second: list[tuple[str, Arguments]] = [("context", {"task": task}), *reads[1:5], *inspects[:5], searches[0]]
    second += [searches[4], inspects[5], reads[5], ("map", {"path": places[0][0].path})]
    return [*first, *second]
