"""Print archived content: all of it, some lines, or the lines that match a pattern.

Without a reference, it lists what is archived for this workspace; --all includes other workspaces and the gateway.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.render.visible import visible_name
from laconic.sessions.archive import Archive
from laconic.workspace.git import home


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", help="the reference from a tombstone or from the last line of an answer")
    parser.add_argument(
        "--all", action="store_true", help="list what is archived anywhere, not only for this workspace"
    )
    parser.add_argument("--lines", metavar="A-B", help="only these lines, from 1")
    parser.add_argument(
        "--grep", metavar="PATTERN", help="only lines that match this regular expression, with line numbers"
    )


def run(args: argparse.Namespace, settings: Settings) -> int:
    store = Archive.of(settings)
    if args.ref is None:
        for entry in store.entries(None if args.all else str(home(Path()))):
            when = datetime.fromtimestamp(entry.stored, UTC).strftime("%Y-%m-%d %H:%M")
            print(visible_name(f"{entry.ref}  {when}  {entry.size:>9,} bytes  {entry.session}  {entry.note}"))
        return 0
    if args.grep is not None:
        first, last = _range(args.lines)
        found = [(number, line) for number, line in store.matching(args.ref, args.grep) if first <= number <= last]
        for number, line in found:
            print(f"{number}: {line}")
        if found:
            return 0
        return 1
    if args.lines is not None:
        print("\n".join(store.lines(args.ref, *_range(args.lines))))
        return 0
    sys.stdout.buffer.write(store.get(args.ref))
    sys.stdout.buffer.flush()
    return 0


def _range(text: str | None) -> tuple[int, int]:
    """`40-80`, `40`, `40-` or `-80`."""
    if text is None:
        return 1, sys.maxsize
    found = re.fullmatch(r"(\d*)(-?)(\d*)", text.strip())
    if not found or not (found[1] or found[3]):
        raise UsageError(f"{text!r} is not a range of lines.", "Write 40-80, 40, 40- or -80.")
    first = int(found[1] or 1)
    if found[3]:
        return first, int(found[3])
    if found[2]:
        return first, sys.maxsize
    return first, first
