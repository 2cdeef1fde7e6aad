"""Show what recorded sessions spent money on, by cause: pauses, changed prompts, compactions, new text.

Without an argument: recent sessions on this machine, from Claude Code, Codex, opencode, Gemini CLI and the gateway's
own record. With one: a session file, a folder of them, a project folder, or words from a session's name or title. It
sends nothing.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from laconic.cli.numbers import positive
from laconic.config import Settings, child_environment
from laconic.errors import Unreadable, UsageError
from laconic.render.escape_control import visible_json, visible_name

if TYPE_CHECKING:
    from laconic.conversation.cost_causes import MeasuredSession

_DAY = 86_400
_MOMENTS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", default="", metavar="FOLDER|SESSION", help="which sessions (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with all moments")
    parser.add_argument("--days", type=positive, default=30, metavar="N", help="days to look back (default: 30)")
    parser.add_argument(
        "--moments",
        type=positive,
        default=_MOMENTS,
        metavar="N",
        help="how many of the most expensive moments to list",
    )


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.cli.cost_view import describe_costs  # not for `--help`
    from laconic.conversation.cost_causes import explain
    from laconic.models.price_lookup import Prices

    sessions, span = _choose(args, settings)
    most = 0 if args.json else args.moments
    report = explain(sessions, Prices(settings.text("prices")).of, most)
    if args.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(report), indent=1).decode()))
        return 0
    for line in describe_costs(report, sessions, span):
        print(visible_name(line))
    return 0


def _choose(args: argparse.Namespace, settings: Settings) -> tuple[Sequence[MeasuredSession], str]:
    """The sessions that are meant, and how they are called."""
    from laconic.clients.recorded_sessions import read_recorded
    from laconic.exchange.cost_sources import measure_recorded

    path = Path(args.target)
    if args.target and path.exists():
        found = list(measure_recorded(read_recorded(path)))
        if found:
            return found, str(path)
    span = f"Last {args.days} days"
    everything = _find_on_machine(settings, time.time() - args.days * _DAY)
    if not args.target:
        if not everything:
            raise UsageError(
                f"No client on this machine recorded its token usage in the last {args.days} days.",
                "Name a session file or a folder, raise --days, or start a client with `laconic wrap`.",
            )
        return everything, span
    chosen = []
    for session in everything:
        if _is_meant(session, args.target):
            chosen.append(session)
    if not chosen:
        raise UsageError(
            f"No session recorded in the last {args.days} days matches {args.target!r}.",
            "Name a session file, a folder, or words of a title; `laconic why` alone shows all.",
        )
    return chosen, f"{span}, {args.target}"


def _find_on_machine(settings: Settings, since: float) -> list[MeasuredSession]:
    """Our own record knows more, so what a client recorded of the same session is left out."""
    from laconic.clients.recorded_sessions import find_recorded
    from laconic.clients.setup import ClientFolders
    from laconic.conversation.cost_causes import without_doubles
    from laconic.exchange.cost_sources import measure_own, measure_recorded
    from laconic.sessions.spending import Spending

    recorded = []
    for session in find_recorded(ClientFolders(Path.cwd(), child_environment()), settings.state_dir(), since):
        if session.last >= since:
            recorded.append(session)
    own: list[MeasuredSession] = []
    try:
        found = Spending.find(settings)
        if found is not None:
            with closing(found) as spending:
                own = list(measure_own(spending, since))
    except sqlite3.Error as error:
        raise Unreadable(f"turns.sqlite cannot be read: {error}.", "`laconic doctor` says what to do.") from None
    return [*own, *without_doubles(list(measure_recorded(recorded)), own)]


def _is_meant(session: MeasuredSession, target: str) -> bool:
    path = Path(target)
    if path.is_dir():
        project = Path(session.project or "/nowhere")
        return path.resolve() in (project, *project.parents)
    if session.name.startswith(target):
        return True
    title = session.title.lower()
    return all(word in title for word in target.lower().split())
