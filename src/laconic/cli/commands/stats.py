"""Show what tools and models cost, and which models wrote unusable calls.

Calls, errors, tokens and time for each tool; tokens and money for each model, with and without Laconic, of the requests
that went through the gateway; malformed calls by provider, model and reason. `cut` counts shortened answers; the next
three columns say which step shortened them last: fitting the parts, fitting them again after the whole was counted, or
the final check of the text.
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
from laconic.render.escape_control import visible_json, visible_name
from laconic.render.plural import count_of

if TYPE_CHECKING:
    from laconic.render.table import Cell
    from laconic.sessions.spending import MalformedCalls, ModelUse
    from laconic.sessions.tool_call_log import ToolCallFigures

_MALFORMED: Final = ("upstream", "model", "reason", "count")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.render.table import format_table  # not for `--help`

    figures, (models, malformed) = _figures(settings), _spending(settings)
    if args.json:
        found = msgspec.json.encode({"tools": figures, "models": models, "malformed": malformed}).decode()
        print(visible_json(found))
        return 0
    if figures:
        print(format_table([_row(figure) for figure in figures]))
    else:
        print("No tool has been called yet.")
    if models:
        print("\nWhat models cost, and would have cost without Laconic:")
        for use in models:
            said = f"{use.model or 'not named'} ({use.upstream}), {count_of(use.turns, 'turn')}: {_bill(use)}"
            print(visible_name(said))
    if malformed:
        print("\nCalls that could not be used:")
        print(format_table([{name: row[name] for name in _MALFORMED} for row in msgspec.to_builtins(malformed)]))
    return 0


def _figures(settings: Settings) -> Sequence[ToolCallFigures]:
    from laconic.sessions.tool_call_log import FILE, ToolCallLog

    if not (settings.cache_dir() / FILE).exists():
        return []
    try:
        with closing(ToolCallLog(settings.cache_dir())) as calls:
            return list(calls.figures())
    except sqlite3.Error as error:
        raise Unreadable(f"{FILE} cannot be read: {error}.", "`laconic doctor` says what to do.") from None


def _spending(settings: Settings) -> tuple[Sequence[ModelUse], Sequence[MalformedCalls]]:
    from laconic.sessions.spending import Spending

    try:
        found = Spending.find(settings)
        if found is None:
            return [], []
        with closing(found) as spending:
            return spending.models(), spending.malformed()
    except sqlite3.Error as error:
        raise Unreadable(f"turns.sqlite cannot be read: {error}.", "`laconic doctor` says what to do.") from None


def _bill(use: ModelUse) -> str:
    from laconic.conversation.accounting import Bill, describe  # not for `--help`

    return describe(
        Bill(
            turns=use.turns,
            tokens=use.prompt,
            tokens_without=use.whole,
            output=use.output,
            dollars=use.dollars,
            dollars_without=use.dollars_whole,
            output_dollars=use.output_dollars,
            unpriced=use.unpriced,
            estimated=use.estimated,
        )
    )


def _row(figure: ToolCallFigures) -> dict[str, Cell]:
    return {
        "tool": figure.tool,
        "calls": figure.calls,
        "errors": figure.errors,
        "repaired": figure.repaired,
        "cut": figure.cut,
        "cut/fitting": figure.cut_fit,
        "cut/recount": figure.cut_recount,
        "cut/net": figure.cut_net,
        "tokens/mean": round(figure.mean),
        "p50": figure.p50,
        "p95": figure.p95,
        "max": figure.largest,
        "ms/mean": round(figure.milliseconds),
        "ms/p50": round(figure.ms_p50),
        "ms/p95": round(figure.ms_p95),
        "ms/max": round(figure.ms_largest),
    }
