"""Replay recorded sessions: what they would have cost, and what would have been missing.

Takes session files of Claude Code, Codex and opencode, chat and Anthropic JSON, or a folder of them. Nothing is sent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.render.visible import visible_json
from laconic.sessions.transcripts import Transcript, transcripts

_POLICIES = ("default", "ingest", "tasks")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE|FOLDER", help="session file, or a folder of them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report with a chart per session")
    parser.add_argument("--policy", choices=_POLICIES, action="append", help="which policies to try (default: all)")
    parser.add_argument("--model", default="claude-sonnet-4-5", help="model whose prices count")
    parser.add_argument("--least", type=int, default=5, metavar="TURNS", help="pass over shorter sessions")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.cli.session_replay import (  # the engine is heavy; other commands never get here
        Replayed,
        make_row,
        render_page,
        replay_session,
    )
    from laconic.render.table import format_table

    found: list[Replayed] = []
    sessions = [s for s in transcripts(args.path) if _turns(s.messages) >= args.least]
    if not sessions:
        raise UsageError(f"No session of {args.least} turns in {args.path}.", "Name another path, or lower --least.")
    for session, policy in _progress([(one, policy) for one in sessions for policy in args.policy or _POLICIES]):
        found.append(replay_session(session, policy, args.model, settings))
    if args.html:
        args.html.write_text(render_page(found), "utf-8")
    if args.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(found), indent=1).decode()))
    else:
        print(format_table([make_row(one) for one in found]))
    return 0


def _turns(messages: Sequence[dict[str, object]]) -> int:
    return sum(message.get("role") == "assistant" for message in messages)


def _progress(items: Sequence[tuple[Transcript, str]]) -> Iterator[tuple[Transcript, str]]:
    """A bar on the terminal; nothing where nobody looks."""
    for number, item in enumerate(items):
        if sys.stderr.isatty():
            done = 30 * number // len(items)
            print(f"\r[{'#' * done:<30}] {number}/{len(items)}", end="", file=sys.stderr, flush=True)
        yield item
    if sys.stderr.isatty():
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)
