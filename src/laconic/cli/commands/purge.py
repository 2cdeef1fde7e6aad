"""Delete what Laconic stores about conversations: one session, one account, everything before a date, or everything.

Without an option, it lists what is stored. Afterwards, none of Laconic's files contains the deleted bytes. A running
gateway keeps working. Indexes and the edit history belong to workspaces and stay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, closing
from datetime import datetime
from typing import TYPE_CHECKING

from laconic.config import Settings
from laconic.errors import UnknownName, UsageError
from laconic.render.plural import count_of

if TYPE_CHECKING:
    from laconic.sessions.purge import Purge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--session", metavar="ID", help="one session, by its id or the beginning of it")
    chosen.add_argument(
        "--account", metavar="ID", help="all sessions of a provider and account or key, by the account's id"
    )
    chosen.add_argument(
        "--before", metavar="DATE", help="everything unused since a date: 2026-01-31, optionally with a time"
    )
    chosen.add_argument("--all", action="store_true", help="everything")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(args: argparse.Namespace, settings: Settings) -> int:
    with ExitStack() as stack:
        purge = open_purge(settings, stack)
        if args.all:
            return _remove(
                args, "everything that is kept about conversations", purge.sessions(), purge, purge.remove_all
            )
        if args.before is not None:
            moment = _moment(args.before)
            what = f"everything unused since {args.before}"
            return _remove(args, what, purge.sessions(moment), purge, lambda: purge.remove_before(moment))
        if args.session is None and args.account is None:
            return _list(purge)
        if args.account is not None:
            accounts = [account.account for account in purge.accounts() if account.account]
            account = _find_named("account", args.account, accounts)
            names = purge.turns.sessions(account)
            what = f"{count_of(len(names), 'session')} of the account {account}"
        else:
            names = [_find_named("session", args.session, purge.sessions())]
            what = f"the session {names[0]}"
        return _remove(args, what, names, purge, lambda: purge.remove_sessions(names))


def open_purge(settings: Settings, stack: ExitStack) -> Purge:
    """All that keeps something about conversations, closed with the stack."""
    from laconic.conversation.ledger import Branch, LedgerEntry  # all of these: not for `--help`
    from laconic.sessions import archive, ledger_store, tool_call_log, turn_tables, turns
    from laconic.sessions.purge import Purge

    cache = settings.cache_dir()
    names = (archive.FILE, ledger_store.FILE, turn_tables.FILE, tool_call_log.FILE)
    return Purge(
        archive=stack.enter_context(closing(archive.Archive.of(settings))),
        ledger=stack.enter_context(closing(ledger_store.LedgerFile.of(settings, LedgerEntry, Branch))),
        turns=stack.enter_context(closing(turns.Turns.of(settings))),
        calls=stack.enter_context(closing(tool_call_log.ToolCallLog(cache))),
        agent=settings.state_dir() / "agent",
        files=[*(cache / name for name in names), settings.state_dir() / "models.json"],
    )


def _list(purge: Purge) -> int:
    print(
        f"{count_of(len(purge.sessions()), 'session')}, {count_of(len(purge.archive.entries()), 'archived output')}"
    )
    for account in purge.accounts():
        last = datetime.fromtimestamp(account.last).strftime("%Y-%m-%d")
        name = account.account or "(none)"
        print(f"account {name}  {account.upstream}  {count_of(account.sessions, 'session')}, last used {last}")
    print("Remove some with --session, --account or --before, or all with --all.")
    return 0


def _remove(
    args: argparse.Namespace, what: str, names: Collection[str], purge: Purge, remove: Callable[[], dict[str, int]]
) -> int:
    if not args.yes and not ask_to_agree(what):
        print("Nothing was removed.")
        return 1
    busy = purge.busy(names)
    removed = remove()
    print("Removed: " + (", ".join(f"{count} {name}" for name, count in removed.items() if count) or "nothing") + ".")
    if busy:
        print(f"An agent is working on {', '.join(busy)}: end it and purge again.", file=sys.stderr)
    if busy:
        return 1
    return 0


def ask_to_agree(what: str) -> bool:
    """Whether a person at a terminal says yes."""
    if not sys.stdin.isatty():
        raise UsageError("This needs a confirmation, and there is no terminal.", "Pass --yes.")
    print(f"Remove {what}? This cannot be undone. [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _find_named(what: str, wanted: str, known: Iterable[str]) -> str:
    """The one that has this name, or the only one that begins so."""
    names = sorted(known)
    if wanted in names:
        found = [wanted]
    else:
        found = []
        for name in names:
            if name.startswith(wanted):
                found.append(name)
    if len(found) == 1 and wanted:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} {what}s begin with {wanted!r}.", "Give more of its characters.")
    raise UnknownName(what, wanted, tuple(names[:5]))


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise UsageError(f"{text!r} is not a date.", "Write 2026-01-31, or 2026-01-31T18:00.") from None
