"""Ten real MCP servers, each asked directly and through `laconic mcp --around`: tokens, facts, time, side effects.

`laconic bench around` does all of it; words choose parts: schemas, results, unseen, held-out, time, effects, trouble.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.around import held_out, unseen
from laconic_benchmarks.around.effects import measure_effects
from laconic_benchmarks.around.measuring import (
    Measured,
    measure_held_out,
    measure_results,
    measure_schemas,
    measure_time,
    measure_unseen,
)
from laconic_benchmarks.around.servers import NPM, PYPI, install, make_world
from laconic_benchmarks.around.trouble import measure_trouble
from laconic_benchmarks.report import Options, Report, versions

_PARTS = ("schemas", "results", "unseen", "held-out", "time", "effects", "trouble")


def run(options: Options) -> Report:
    """The parts that are named, or all."""
    wanted = options.args or _PARTS
    installed = install(Path(options.cache) / "mcp-servers", NPM, PYPI)
    cost = counter()
    measured = Measured()
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "world"
        make_world(world)
        if "schemas" in wanted:
            asyncio.run(measure_schemas(installed, world, cost, measured))
        if "results" in wanted:
            asyncio.run(measure_results(installed, world, cost, measured))
        if "unseen" in wanted:
            servers = install(Path(options.cache) / "unseen-mcp-servers", unseen.NPM, unseen.PYPI)
            unseen.make_world(Path(folder) / "unseen", Path(options.mirror))
            asyncio.run(measure_unseen(servers, Path(folder) / "unseen", cost, measured))
        if "held-out" in wanted:
            servers = install(Path(options.cache) / "held-out-mcp-servers", held_out.NPM, held_out.PYPI)
            held_out.make_world(Path(folder) / "held-out", Path(options.mirror))
            asyncio.run(measure_held_out(servers, Path(folder) / "held-out", cost, measured))
        if "time" in wanted:
            asyncio.run(measure_time(installed, world, measured, 60 if options.quick else 400))
        if "effects" in wanted:
            calls = options.steps or (300 if options.quick else 5_000)
            asyncio.run(measure_effects(installed, Path(folder), measured, calls, options.seed or 20))
        if "trouble" in wanted:
            asyncio.run(measure_trouble(Path(folder), measured))
    rows: tuple[dict[str, Cell], ...] = tuple(measured.rows)
    return Report(
        "around",
        "ten servers from npm and PyPI, on material that the benchmark makes",
        cost.name,
        rows,
        tuple(measured.bars),
        tuple(measured.notes),
        versions("mcp"),
    )
