"""Run a benchmark and print its report as a table, or as JSON.

Each benchmark states its corpus, tokenizer and versions. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import cast

import laconic_benchmarks
from laconic.config import Settings
from laconic.errors import UnknownName, Unreadable
from laconic_benchmarks.corpus import SAMPLES
from laconic_benchmarks.report import Benchmark, Options

_NOT_BENCHMARKS = frozenset(
    {
        "browser",
        "calls",
        "chart",
        "command",
        "corpus",
        "gateway_processes",
        "hostile",
        "language_servers",
        "postgres_server",
        "printed",
        "recorded",
        "replay_parts",
        "replay_policies",
        "report",
        "search_questions",
        "snapshot",
    }
)


def names() -> list[str]:
    """All benchmarks."""
    return sorted(m.name for m in pkgutil.iter_modules(laconic_benchmarks.__path__) if m.name not in _NOT_BENCHMARKS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help=f"one of: {', '.join(names())}")
    parser.add_argument("args", nargs="*", help="arguments of the benchmark")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", help="folder with the recorded data (default: in the cache, or samples)")
    parser.add_argument("--tasks", type=int, default=0, metavar="N", help="measure N tasks, spread evenly over all")
    parser.add_argument("--quick", action="store_true", help="small samples, for a first look")
    parser.add_argument("--public", action="store_true", help="`search`: a public benchmark, from a clone of it")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="steps of `attack`")
    parser.add_argument(
        "--against", default="", metavar="PYTHON", help="measure `gateway` of another installation too, in turn"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed for random choices")
    parser.add_argument("--out", default="", metavar="FOLDER", help="where `all` writes its report")
    parser.add_argument("--fresh", action="store_true", help="measure again what the report already holds")


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.name not in names():
        raise UnknownName("benchmark", args.name, tuple(names()))
    module = cast(Benchmark, import_module(f"{laconic_benchmarks.__name__}.{args.name}"))
    cache = settings.cache_dir()
    options = Options(
        data=args.data or settings.text("bench.data") or _default_data(cache),
        cache=str(cache / "corpora"),
        mirror=settings.text("bench.mirror") or str(cache / "clones"),
        args=tuple(args.args),
        tasks=args.tasks,
        quick=args.quick,
        public=args.public,
        out=args.out,
        fresh=args.fresh,
        steps=args.steps,
        seed=args.seed,
        against=args.against,
        progress=_say,
    )
    try:
        report = module.run(options)
    except FileNotFoundError as error:
        raise Unreadable(
            f"{error.filename} is not there.", "Name the data with --data or LACONIC_BENCH_DATA."
        ) from None
    print(report.to_json() if args.json else report.to_table())
    return 0 if all(bar.holds for bar in report.bars) else 1


def _default_data(cache: Path) -> str:
    """The recorded data in the cache folder; without it, the samples that come with this package."""
    recorded = cache / "recorded"
    return str(recorded if recorded.is_dir() else SAMPLES)


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)
