"""Run a benchmark and print its report as a table, or as JSON.

Each benchmark states its corpus, tokenizer and versions; the exit code is 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import pkgutil
from importlib import import_module
from typing import cast

from laconic import bench
from laconic.bench.report import Benchmark, Options
from laconic.config import Settings
from laconic.errors import UnknownName

_NOT_BENCHMARKS = {"corpus", "parties", "printed", "recorded", "report", "sessions", "snapshot"}


def names() -> list[str]:
    """All benchmarks."""
    return sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name not in _NOT_BENCHMARKS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help=f"one of: {', '.join(names())}")
    parser.add_argument("args", nargs="*", help="words for the benchmark itself")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", help="folder with the recorded data")


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.name not in names():
        raise UnknownName("benchmark", args.name, tuple(names()))
    module = cast(Benchmark, import_module(f"{bench.__name__}.{args.name}"))
    report = module.run(
        Options(
            data=args.data or settings.text("bench.data"),
            cache=str(settings.cache_dir() / "corpora"),
            mirror=settings.text("bench.mirror"),
            args=tuple(args.args),
        )
    )
    print(report.to_json() if args.json else report.to_table())
    return 0 if all(bar.holds for bar in report.bars) else 1
