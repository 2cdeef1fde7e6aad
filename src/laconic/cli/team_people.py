"""The part of `laconic team` that deletes what is kept about a person."""

from __future__ import annotations

import argparse
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

from laconic.cli.commands.purge import ask_to_agree, open_purge
from laconic.config import Settings

if TYPE_CHECKING:
    from laconic.sessions.team.keys import TeamKeys


def add_person_arguments(chosen: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`person`."""
    person = chosen.add_parser("person", help="what is kept about a person").add_subparsers(
        dest="act", required=True, metavar="delete", help="what to do"
    )
    deleted = person.add_parser("delete", help="delete their keys, grants, conversations and name")
    deleted.add_argument("name", help="the owner of the keys")
    deleted.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    deleted.add_argument("--store", default="", metavar="URL", help="the team's database")


def delete_person_asked(args: argparse.Namespace, settings: Settings, keys: TeamKeys, actor: str) -> int:
    """Keys first, so that nothing new comes while conversations go."""
    from laconic.organisation.folder import OrganisationFolder
    from laconic.sessions.team.people import delete_person

    if not args.yes and not ask_to_agree(f"all that is kept about {args.name}"):
        print("Nothing was removed.")
        return 1
    gone = delete_person(keys.file, args.name, actor)
    folder = OrganisationFolder.of(settings)
    for id in gone.keys:
        shutil.rmtree(folder.person(id), ignore_errors=True)
    with ExitStack() as stack:
        purge = open_purge(settings, stack)
        sessions = purge.turns.sessions(person=args.name)
        removed = purge.remove_sessions(sessions)
    parts = [f"{len(gone.keys)} keys", f"{gone.grants} grants", f"{len(sessions)} sessions"]
    for what, count in removed.items():
        if count and what != "recorded sessions":
            parts.append(f"{count} {what}")
    print(f"Removed: {', '.join(parts)}. {gone.figures} figures have no name any more.")
    return 0
