"""Show what the tools cost: calls, errors, tokens and time, tool by tool."""

from __future__ import annotations

import argparse
import sqlite3

import msgspec

from laconic.config import Settings
from laconic.errors import Unreadable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.bench.report import table  # not for `--help`
    from laconic.sessions.calls import FILE, Calls, Figures

    figures: list[Figures] = []
    if (settings.cache_dir() / FILE).exists():
        try:
            calls = Calls(settings.cache_dir())
            figures = list(calls.figures())
            calls.close()
        except sqlite3.Error as error:
            raise Unreadable(f"The record of calls cannot be read: {error}.", "Remove calls.sqlite.") from None
    if args.json:
        print(msgspec.json.encode({"tools": figures}).decode())
    elif not figures:
        print("No tool was called yet.")
    else:
        print(table([_row(figure) for figure in figures]))
    return 0


def _row(figure: object) -> dict[str, str | int | float | bool | None]:
    names = {"mean": "mean tokens", "largest": "max", "milliseconds": "ms"}
    return {names.get(key, key): value for key, value in msgspec.to_builtins(figure).items()}
