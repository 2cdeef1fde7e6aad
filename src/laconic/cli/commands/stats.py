"""Show what the tools cost, tool by tool, and which models wrote calls that could not be used.

Calls, errors, tokens and time of each tool; malformed calls by provider, model and reason, as the gateway saw them.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

import msgspec

from laconic.config import Settings
from laconic.errors import Unreadable

if TYPE_CHECKING:
    from laconic.sessions.calls import Figures
    from laconic.sessions.spending import Malformed

_MALFORMED: Final = ("upstream", "model", "reason", "count")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.bench.report import table  # not for `--help`

    figures, malformed = _figures(settings), _malformed(settings)
    if args.json:
        print(msgspec.json.encode({"tools": figures, "malformed": malformed}).decode())
        return 0
    print(table([_row(figure) for figure in figures]) if figures else "No tool was called yet.")
    if malformed:
        print("\nCalls that could not be used:")
        print(table([{name: row[name] for name in _MALFORMED} for row in msgspec.to_builtins(malformed)]))
    return 0


def _figures(settings: Settings) -> Sequence[Figures]:
    from laconic.sessions.calls import FILE, Calls

    if not (settings.cache_dir() / FILE).exists():
        return []
    try:
        with closing(Calls(settings.cache_dir())) as calls:
            return list(calls.figures())
    except sqlite3.Error as error:
        raise Unreadable(f"The record of calls cannot be read: {error}.", f"Remove {FILE}.") from None


def _malformed(settings: Settings) -> Sequence[Malformed]:
    from laconic.sessions.spending import Spending
    from laconic.sessions.turns import FILE

    if not (settings.cache_dir() / FILE).exists():
        return []
    try:
        with closing(Spending(settings.cache_dir() / FILE)) as spending:
            return spending.malformed()
    except sqlite3.Error as error:
        raise Unreadable(f"The record of turns cannot be read: {error}.", f"Remove {FILE}.") from None


def _row(figure: object) -> dict[str, str | int | float | bool | None]:
    names = {"mean": "mean tokens", "largest": "max", "milliseconds": "ms"}
    return {names.get(key, key): value for key, value in msgspec.to_builtins(figure).items()}
