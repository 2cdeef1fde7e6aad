"""Read the output of an analyser or a test run: a summary first, then findings with the symbol they stand in.

Reads SARIF, JUnit, Checkstyle, PMD and SpotBugs XML, and what ESLint, ruff, mypy, pyright, pytest, tsc, cargo, rustc,
go, javac, Maven and Gradle print; `-` is standard input. `--run TOOL` runs one that the settings allow.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from laconic.config import Settings
from laconic.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="", help="a file with the output, or - for standard input")
    parser.add_argument("--run", metavar="TOOL", default="", help="run a tool that `report.allow` names")
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--severity", choices=("error", "warning", "info"), default="", help="this or worse")
    parser.add_argument("--category", default="", help="only this category")
    parser.add_argument("--rule", default="", help="only this rule; * matches anything")
    parser.add_argument("--path", default="", help="only this file, folder or pattern")
    parser.add_argument("--since", default="", metavar="COMMIT", help="only findings on lines that changed since")
    parser.add_argument("--offset", type=int, default=0, help="findings to pass over")
    parser.add_argument("--limit", type=int, default=200, help="findings at most")
    parser.add_argument("--context", action="store_true", help="with the lines around each finding")
    parser.add_argument("--budget", type=int, default=4000, metavar="TOKENS", help="size of the answer at most")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.reduce.findings import read  # the parsers: not for `--help`
    from laconic.reduce.findings.select import Wanted
    from laconic.tokens.count import counter
    from laconic.tools import report

    if args.run:
        found = report.run_tool(args.root, args.run, settings.text("report.allow").replace(",", " ").split())
    elif args.file == "-":
        found = read(sys.stdin.read())
    elif args.file:
        found = report.from_file(args.root, args.file)
    else:
        names = ", ".join(report.configured(args.root)) or "none that is known"
        raise UsageError(f"Which report? This project is set up for: {names}.", "Name a file, or --run TOOL.")
    found = report.located(args.root, found)
    if args.since:
        found = report.since(args.root, found, args.since)
    wanted = Wanted(args.severity, args.category, args.rule, args.path, args.offset, args.limit)
    cost = counter(settings.text("model"))
    print(report.answer(args.root, found, wanted, cost, budget=args.budget, context=args.context))
    return 0
