"""The part of `laconic team` about an organisation's repositories, and who may read them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from laconic.workspace.checkouts import normalise_origin

if TYPE_CHECKING:
    from laconic.sessions.team.repositories import Repositories


def add_repository_arguments(chosen: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`repository` and `grant`, with `--store` for each."""
    repository = chosen.add_parser("repository", help="repositories of `laconic serve`").add_subparsers(
        dest="act", required=True, metavar="add|list|remove", help="what to do with repositories"
    )
    added = repository.add_parser("add", help="let workers fetch and index a repository")
    added.add_argument("name", help="its name, as its host writes it: acme/billing")
    added.add_argument("url", help="the address that git fetches it from")
    added.add_argument("--branch", default="", help="the branch to index (default: the remote's own)")
    repository.add_parser("list", help="repositories, and which commit of each is indexed")
    repository.add_parser("remove", help="forget a repository").add_argument("name", help="its name")
    grant = chosen.add_parser("grant", help="who may read which repositories").add_subparsers(
        dest="act", required=True, metavar="add|list|remove", help="what to do with grants"
    )
    for act in ("add", "remove"):
        parser = grant.add_parser(act, help=f"{act} a grant")
        parser.add_argument("pattern", help="repositories: acme/billing, or acme/* in quotes")
        parser.add_argument("--owner", default="", help="the person who may read them")
        parser.add_argument("--team", default="", help="the team that may (default: everybody with a key)")
    grant.add_parser("list", help="all grants")
    for parsers in (repository, grant):
        for parser in parsers.choices.values():
            parser.add_argument("--store", default="", metavar="URL", help="the team's database")


def manage_repositories(args: argparse.Namespace, repositories: Repositories, actor: str) -> int:
    """Do what the arguments say."""
    if args.act == "list":
        _list(repositories)
    elif args.act == "add":
        repositories.add(args.name, args.url, normalise_origin(args.url), actor, args.branch)
        print(f"Workers fetch {args.name} when they next look. Nobody can read it without a grant.")
    else:
        repositories.remove(args.name, actor)
        print(f"Removed {args.name}. Workers delete their copy when they start.")
    return 0


def manage_grants(args: argparse.Namespace, repositories: Repositories, actor: str) -> int:
    """Do what the arguments say."""
    from laconic.sessions.team.repositories import name_subject

    if args.act == "list":
        for grant in repositories.grants():
            print(f"{grant.subject}\t{grant.pattern}")
        return 0
    subject = name_subject(args.owner, args.team)
    if args.act == "add":
        repositories.grant(subject, args.pattern, actor)
        print(f"{subject} may read {args.pattern}.")
    else:
        repositories.withdraw(subject, args.pattern, actor)
        print(f"{subject} may no longer read {args.pattern} by this grant.")
    return 0


def _list(repositories: Repositories) -> None:
    found = repositories.list()
    for each in found:
        state = "not indexed yet"
        if each.published:
            moment = datetime.fromtimestamp(each.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
            state = f"{each.published[:12]} since {moment}"
        trouble = f"  {each.trouble}" if each.trouble else ""
        print(f"{each.name}  {state}{trouble}")
    if not found:
        print("There are no repositories. Add one with `laconic team repository add NAME URL`.")
