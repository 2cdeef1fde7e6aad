"""Laconic, the shell and other people's servers, asked the same ten questions with default settings.

`laconic bench peers install [NAME...]` puts them into environments of their own below the cache; `laconic bench peers
[NAME...]` asks those that are installed. Where a peer needs fewer tokens or answers more, the table says so.
"""

from __future__ import annotations

from pathlib import Path

from laconic.bench.peers.asking import asked
from laconic.bench.peers.environments import PEERS, install, installed, peer
from laconic.bench.report import Cell, Options, Report, versions


def run(options: Options) -> Report:
    if options.args[:1] == ("install",):
        return _installed(options)
    return asked(options, [peer(name) for name in options.args] or list(PEERS))


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
