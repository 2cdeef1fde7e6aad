"""Replay recorded sessions: what they cost, what they would have cost with Laconic, and what would have been missing.

Without a path: recent sessions of every client on this machine (Claude Code, Codex, opencode, Gemini CLI, Laconic's
agent, and aider in this folder). With a path: a session file of one of these, chat or Anthropic JSON, or a folder of
files. It sends nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from laconic.cli.numbers import positive
from laconic.config import Settings, child_environment
from laconic.errors import UsageError
from laconic.models.prices_and_windows import CURRENT
from laconic.render.escape_control import visible_json, visible_name

if TYPE_CHECKING:
    from laconic.cli.session_replay import ReplayedSession
    from laconic.render.table import Cell

_POLICIES = ("default", "ingest", "tasks")
_DAY = 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, metavar="FILE|FOLDER", help="session file, or a folder of them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--html",
        type=Path,
        nargs="?",
        const=Path("report.html"),
        metavar="FILE",
        help="write a page with a chart for each session (default: report.html)",
    )
    parser.add_argument(
        "--days", type=positive, default=30, metavar="N", help="without a path: days to look back (default: 30)"
    )
    parser.add_argument(
        "--policy",
        choices=_POLICIES,
        action="append",
        help="with a path: what to leave out: all that pays (default), only on arrival (ingest), or also tasks' outputs",
    )
    parser.add_argument("--model", default=CURRENT, help="with a path: the model whose prices to use")
    parser.add_argument(
        "--least", type=positive, default=5, metavar="TURNS", help="skip sessions with fewer turns (default: 5)"
    )


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.path is None:
        return _look_around(args, settings)
    return _replay_path(args, settings)


def _look_around(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.cli.first_look import look_at, summarize  # the engine is heavy; other commands never get here
    from laconic.cli.replay_page import render_page
    from laconic.clients.recorded_sessions import find_recorded
    from laconic.clients.setup import ClientFolders

    since = time.time() - args.days * _DAY
    recorded = find_recorded(ClientFolders(Path.cwd(), child_environment()), settings.state_dir(), since)
    sessions = []
    for one in recorded:
        if one.last >= since and _turns(one.transcript.messages) >= args.least:
            sessions.append(one)
    if not sessions:
        raise UsageError(
            f"No client on this machine recorded a session of at least {args.least} turns in the last {args.days} days.",
            "Name a session file or a folder, raise --days, or lower --least.",
        )
    found = list(look_at(sessions, settings))
    summary = summarize(found, args.days)
    if args.html:
        args.html.write_text(render_page([one.replayed for one in found], summary, found), "utf-8")
    if args.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(found), indent=1).decode()))
        return 0
    for line in summary:
        print(visible_name(line))
    if args.html:
        print(f"The page with each session is {args.html}.")
    else:
        print("`laconic replay --html` draws each session; `laconic wrap claude` tries it.")
    return 0


def _replay_path(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.cli.replay_page import render_page  # the engine is heavy; other commands never get here
    from laconic.cli.session_replay import replay_session
    from laconic.cli.terminal import track
    from laconic.render.table import format_table
    from laconic.sessions.recorded.record import title_of
    from laconic.sessions.transcripts import transcripts

    sessions = []
    for one in transcripts(args.path):
        if _turns(one.messages) >= args.least:
            sessions.append(one)
    if not sessions:
        raise UsageError(
            f"No session of at least {args.least} turns in {args.path}.", "Name another path, or lower --least."
        )
    found: list[ReplayedSession] = []
    for policy in args.policy or _POLICIES[:1]:
        followed = track(sessions, "messages replayed", [len(one.messages) for one in sessions])
        for one in followed:
            found.append(replay_session(one, policy, args.model, settings, title=title_of(one)))
    if args.html:
        args.html.write_text(render_page(found), "utf-8")
    if args.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(found), indent=1).decode()))
    else:
        print(format_table([*(_row(one) for one in found), *_totals(found)]))
    return 0


def _turns(messages: Sequence[dict[str, object]]) -> int:
    return sum(message.get("role") == "assistant" for message in messages)


def _row(one: ReplayedSession) -> dict[str, Cell]:
    """One line of the table, which fits a terminal."""
    from laconic.dashboard.format import money, short  # not for `--help`

    outcome = one.outcome
    cost = "price unknown"
    if one.priced:
        cost = f"{money(one.dollars)} -> {money(one.dollars_passed)}"
    return {
        "session": one.label[:40],
        "policy": one.policy,
        "requests": outcome.turns,
        "prompt tokens": f"{short(outcome.tokens)} -> {short(outcome.passed)}",
        "cost": cost,
        "peak": f"{short(outcome.peak)} -> {short(outcome.passed_peak)}",
        "lines kept": f"{outcome.lines_kept}/{outcome.lines}",
        "rewrites": outcome.events,
    }


def _totals(found: Sequence[ReplayedSession]) -> list[dict[str, Cell]]:
    from laconic.dashboard.format import money, short  # not for `--help`

    rows: list[dict[str, Cell]] = []
    for policy in dict.fromkeys(one.policy for one in found):
        own = []
        for one in found:
            if one.policy == policy:
                own.append(one)
        outcomes = []
        for one in own:
            outcomes.append(one.outcome)
        before, after = sum(one.dollars for one in own), sum(one.dollars_passed for one in own)
        rows.append(
            {
                "session": f"all {len(own)}",
                "policy": policy,
                "requests": sum(one.turns for one in outcomes),
                "prompt tokens": f"{short(sum(o.tokens for o in outcomes))} -> {short(sum(o.passed for o in outcomes))}",
                "cost": f"{money(before)} -> {money(after)}",
                "lines kept": f"{sum(one.lines_kept for one in outcomes)}/{sum(one.lines for one in outcomes)}",
                "rewrites": sum(one.events for one in outcomes),
            }
        )
    return rows
