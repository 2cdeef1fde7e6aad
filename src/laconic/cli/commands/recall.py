"""Print archived content: all of it, some lines, or the lines that match a pattern.

Without a reference, it lists what is archived for this workspace (age, size, session and task), or searches it with
--grep. If this workspace has nothing, or with --all, it looks at everything that is archived: other workspaces, and the
conversations that went through the gateway. --session and --task narrow the list.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.render.age import age_text
from laconic.render.escape_control import visible_name
from laconic.sessions.archive import Archive, ArchiveEntry
from laconic.sessions.turns import Turns
from laconic.workspace.changed_listing import find_changed
from laconic.workspace.git import home
from laconic.workspace.secrets import SecretFiles

_PER_TOKEN = 4  # bytes, near enough for a list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", help="the reference in a line such as `laconic recall REF`")
    parser.add_argument(
        "--all", action="store_true", help="list what is archived anywhere, not only for this workspace"
    )
    parser.add_argument("--session", metavar="NAME", help="a session, by its name or words of its title")
    parser.add_argument("--task", metavar="TITLE", help="what belonged to a task, by words of its title")
    parser.add_argument("--lines", metavar="A-B", help="only these lines, counted from 1")
    parser.add_argument(
        "--grep", metavar="PATTERN", help="only lines that match this regular expression, with line numbers"
    )


def run(args: argparse.Namespace, settings: Settings) -> int:
    store = Archive.of(settings)
    if args.ref is None:
        return _search_or_list(args, store, Turns.of(settings).titles())
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
    else:
        sys.stdout.buffer.write(store.get(args.ref))
    sys.stdout.flush()
    _warn_of_changes(args.ref, store, settings)
    return 0


def _warn_of_changes(ref: str, store: Archive, settings: Settings) -> None:
    """Say beside the text, which stays exact, that a file is no longer as it shows it."""
    lines = store.lines(ref, *_range(None))
    changed = find_changed(home(Path()), SecretFiles.of(settings), lines, store.entry(ref).note)
    if changed:
        print(f"laconic: {', '.join(changed)} changed since; read the file as it is now.", file=sys.stderr)


def _search_or_list(args: argparse.Namespace, store: Archive, titles: Mapping[str, str]) -> int:
    """Every text in scope in a line, or those that hold lines which match, with these."""
    scope = None if args.all or args.session or args.task else str(home(Path()))
    found = _print_matching(args, store, titles, scope)
    if not found and scope is not None:
        found = _print_matching(args, store, titles, None)
        if found:
            print("laconic: none of this is from this workspace, which has nothing like it.", file=sys.stderr)
    if found:
        return 0
    if not (args.session or args.task or args.grep):
        print("laconic: nothing is archived yet.", file=sys.stderr)
        return 0
    print("laconic: nothing in the archive fits. `laconic recall --all` lists all of it.", file=sys.stderr)
    return 1


def _print_matching(args: argparse.Namespace, store: Archive, titles: Mapping[str, str], scope: str | None) -> int:
    """Print what a scope holds, the newest first; returns how many texts that were."""
    found = 0
    for entry in reversed(store.entries(scope)):
        title = titles.get(entry.session, "")
        if not _is_asked_for(args, entry, title):
            continue
        lines = []
        if args.grep is not None:
            lines = store.matching(entry.ref, args.grep)
            if not lines:
                continue
        found += 1
        print(visible_name(_describe(entry, title)))
        for number, line in lines:
            print(f"  {number}: {line}")
    return found


def _is_asked_for(args: argparse.Namespace, entry: ArchiveEntry, title: str) -> bool:
    """Whether a text is of the session and of the task that are named."""
    if args.session and args.session != entry.session and args.session.lower() not in title.lower():
        return False
    return not args.task or args.task.lower() in entry.task.lower()


def _describe(entry: ArchiveEntry, title: str) -> str:
    task = f"task {entry.task!r}  " if entry.task else ""
    size = f"about {max(1, entry.size // _PER_TOKEN):,} tokens"
    age = age_text(time.time() - entry.stored)
    return f"{entry.ref}  {age:>14}  {size:>20}  {title or entry.session}  {task}{entry.note}"


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
