"""Manage a team: keys with budgets, what they spent, repositories and who may read them, and who changed what.

`laconic team key create --owner NAME` prints a key once; only its hash is kept. `--store` or LACONIC_STORE names the
team's database; without one, keys are in a file on this machine.
"""

from __future__ import annotations

import argparse
import csv
import getpass
import socket
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from laconic.cli.commands.gateway import with_store
from laconic.cli.numbers import zero_or_more
from laconic.cli.team_people import add_person_arguments, delete_person_asked
from laconic.cli.team_repositories import add_repository_arguments, manage_grants, manage_repositories
from laconic.config import Settings

if TYPE_CHECKING:
    from laconic.sessions.team.keys import TeamKey, TeamKeys

_ROLES = ("developer", "lead", "admin")
_AXES = ("person", "team", "project", "client", "model", "day")
_DAY = 86_400.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_subparsers(
        dest="what",
        required=True,
        metavar="key|spending|repository|grant|person|audit",
        help="what to look at, or to change",
    )
    key = chosen.add_parser("key", help="keys of people and programs").add_subparsers(
        dest="act", required=True, metavar="create|list|revoke", help="what to do with keys"
    )
    _add_create(key.add_parser("create", help="create a key, and print it once"))
    listed = key.add_parser("list", help="keys in force, without the keys themselves")
    listed.add_argument("--all", action="store_true", help="also list revoked keys")
    revoked = key.add_parser("revoke", help="revoke a key; every replica refuses it within two seconds")
    revoked.add_argument("id", help="the ten characters after `lac-`, or the whole key")
    spent = chosen.add_parser("spending", help="what was spent, by person, team, project, client, model or day")
    spent.add_argument("--by", choices=_AXES, default="person", help="what to group by")
    spent.add_argument("--days", type=zero_or_more, default=30, help="days to look back (default: 30); 0: all")
    spent.add_argument("--csv", action="store_true", help="all rows, for a spreadsheet")
    chosen.add_parser("audit", help="who changed keys, repositories and grants, and deleted data")
    add_repository_arguments(chosen)
    add_person_arguments(chosen)
    for each in (listed, revoked, spent, key.choices["create"], chosen.choices["audit"]):
        each.add_argument("--store", default="", metavar="URL", help="the team's database")


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--owner", required=True, help="the person or program that uses the key")
    parser.add_argument("--team", default="", help="the team that its spending is charged to")
    parser.add_argument("--role", choices=_ROLES, default="developer", help="whose figures its owner may see")
    parser.add_argument(
        "--models", default="", metavar="PATTERNS", help="models that it may use (default: all): `claude-*, gpt-5*`"
    )
    parser.add_argument("--budget", default="", metavar="50/month", help="dollars per day, week, month, or ever")
    parser.add_argument("--rate", type=int, default=0, metavar="N", help="requests per minute (default: no limit)")
    parser.add_argument(
        "--days", type=float, default=0.0, metavar="N", help="days after which it expires (default: never)"
    )
    parser.add_argument("--note", default="", help="what it is for")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.sessions.team.keys import TeamKeys  # the store: not for `--help`

    with closing(TeamKeys.of(with_store(settings, args.store))) as keys:
        if args.what == "spending":
            return _show_spending(args, keys)
        if args.what == "audit":
            return _show_audit(keys)
        if args.what in {"repository", "grant"}:
            return _manage(args, keys)
        if args.what == "person":
            return delete_person_asked(args, with_store(settings, args.store), keys, _actor())
        if args.act == "create":
            return _create(args, keys)
        if args.act == "list":
            return _list(args, keys)
        return _revoke(args, keys)


def _manage(args: argparse.Namespace, keys: TeamKeys) -> int:
    from laconic.sessions.team.repositories import Repositories

    if args.what == "repository":
        return manage_repositories(args, Repositories(keys.file), _actor())
    return manage_grants(args, Repositories(keys.file), _actor())


def _create(args: argparse.Namespace, keys: TeamKeys) -> int:
    from laconic.sessions.team.keys import WantedKey

    wanted = WantedKey(
        owner=args.owner,
        team=args.team,
        role=args.role,
        models=args.models,
        budget=args.budget,
        rate=args.rate,
        days=args.days,
        note=args.note,
    )
    shown, key = keys.create(wanted.describe_key(datetime.now(UTC).timestamp()), _actor())
    print(shown)
    print(f"{_describe(key)}. It is not shown again.", file=sys.stderr)
    return 0


def _list(args: argparse.Namespace, keys: TeamKeys) -> int:
    from laconic.sessions.team.budgets import Budgets

    found = keys.list(revoked=args.all)
    dollars = Budgets(keys.file).spent(found)
    for key in found:
        spent = f", spent ${dollars[key.id]:.2f}" if key.budget else ""
        print(f"{_describe(key)}{spent}")
    if not found:
        print("There are no keys. Make one with `laconic team key create --owner NAME`.")
    return 0


def _revoke(args: argparse.Namespace, keys: TeamKeys) -> int:
    from laconic.sessions.team.keys import key_id

    key = keys.revoke(key_id(args.id) or args.id.removeprefix("lac-"), _actor())
    print(f"Revoked {key.id} of {key.owner}.")
    return 0


def _show_spending(args: argparse.Namespace, keys: TeamKeys) -> int:
    from laconic.sessions.team.spending import TeamSpending, ViewerRights, write_csv

    since = 0.0
    if args.days:
        since = datetime.now(UTC).timestamp() - args.days * _DAY
    spending, all_of_it = TeamSpending(keys.file), ViewerRights("admin")
    if args.csv:
        sys.stdout.write(write_csv(spending.rows(since, all_of_it)))
        return 0
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow((args.by, "requests", "prompt tokens", "output tokens", "dollars", "without laconic"))
    for line in spending.lines(args.by, since, all_of_it):
        money = (f"{line.dollars:.2f}", f"{line.dollars_without:.2f}")
        table.writerow((line.name or "-", line.requests, line.prompt, line.output, *money))
    return 0


def _show_audit(keys: TeamKeys) -> int:
    for entry in keys.audit():
        moment = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        print(f"{moment}  {entry.actor}  {entry.action}  {entry.subject}  {entry.detail}")
    return 0


def _describe(key: TeamKey) -> str:
    from laconic.sessions.team.keys import describe_budget

    words = [f"{key.id}  {key.owner}"]
    if key.team:
        words.append(f"team {key.team}")
    words += [key.role, f"models {key.models or 'all'}", f"budget {describe_budget(key)}"]
    if key.rate:
        words.append(f"{key.rate} requests/minute")
    if key.expires:
        words.append(f"expires {_date(key.expires)}")
    if key.revoked:
        words.append(f"revoked {_date(key.revoked)}")
    if key.note:
        words.append(key.note)
    return ", ".join(words)


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def _actor() -> str:
    """Who runs this command, for the log."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container without a name for its user
        name = "unknown"
    return f"{name}@{socket.gethostname()}"
