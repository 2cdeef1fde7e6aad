"""Serve an organisation's repositories to agents over MCP, or keep their index as a worker.

Both need the team's PostgreSQL (LACONIC_STORE) and share one folder (team.folder). Run one server and any number of
workers. `laconic team repository add` and `laconic team grant add` say what is indexed, and who may read it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.cli.commands.gateway import with_store
from laconic.cli.listen_arguments import add_tls_arguments
from laconic.config import Settings, first_variable
from laconic.errors import BadSetting

if TYPE_CHECKING:
    from laconic.organisation.server import OrganisationParts
    from laconic.serving.readiness import Readiness


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--listen", default="127.0.0.1:8788", metavar="HOST:PORT", help="address to listen on")
    parser.add_argument("--worker", action="store_true", help="take pushes and index them; do not listen")
    parser.add_argument("--store", default="", metavar="URL", help="the team's database")
    add_tls_arguments(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.gateway.logs import to

    to(sys.stderr)
    settings = with_store(settings, args.store)
    run_worker = _import_queue()
    if args.worker:
        print("laconic worker", flush=True)
        asyncio.run(run_worker(settings))
        return 0
    return _serve(args, settings)


def _import_queue() -> Callable[[Settings], Coroutine[None, None, None]]:
    try:
        from laconic.organisation.push_queue import run_worker
    except ImportError:
        raise BadSetting(
            "An organisation's index needs packages that are not installed.", "Install laconic[team]."
        ) from None
    return run_worker


def _serve(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.organisation.server import make_application
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import bind, listen
    from laconic.serving.readiness import Readiness
    from laconic.serving.server import server_for

    # Every request needs a key of the team: that is the token of this listener.
    where = listen(args.listen, "keys of the team", args.certificate, args.key, insecure=args.insecure)
    readiness = Readiness(settings.ratio("gateway.notice"), settings.ratio("gateway.drain"))
    hosts = allowed_hosts(where, settings.patterns("gateway.hosts"))
    app = make_application(_parts(settings, readiness), hosts)
    opened = bind(where)
    print(f"laconic serve on {where.url(opened)}/mcp", flush=True)
    server_for(app, where, readiness=readiness).run(sockets=[opened])
    return 0


def _parts(settings: Settings, readiness: Readiness) -> OrganisationParts:
    from laconic.gateway.team_access import TeamAccess
    from laconic.index.store.content_store import ContentStore
    from laconic.models.price_lookup import Prices
    from laconic.organisation.folder import OrganisationFolder
    from laconic.organisation.push_queue import PushQueue
    from laconic.organisation.repository_access import ReadableSessions
    from laconic.organisation.server import OrganisationParts
    from laconic.sessions.team.keys import TeamKeys
    from laconic.sessions.team.repositories import Repositories

    keys = TeamKeys.of(settings)
    repositories = Repositories(keys.file)
    return OrganisationParts(
        access=TeamAccess(keys, Prices(settings.text("prices")), grace=0.0),
        repositories=repositories,
        sessions=lambda: ReadableSessions(settings, repositories),
        contents=lambda: ContentStore(OrganisationFolder.of(settings).contents),
        queue=PushQueue(settings),
        hook_secret=_read_secret(settings.text("team.hook_secret")),
        readiness=readiness,
    )


def _read_secret(place: str) -> str:
    """From a file or a variable; none: no webhook is accepted."""
    from laconic.serving.access_tokens import read_token

    how, _, where = place.partition(":")
    if how == "file" and where:
        return read_token(Path(where).expanduser())
    if how == "env" and where:
        return first_variable((where,))
    if place:
        raise BadSetting("team.hook_secret names no place.", "Write file:PATH or env:NAME.")
    return ""
