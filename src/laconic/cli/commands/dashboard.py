"""Show live in a browser where tokens and money went: sessions, tools, files, models.

It reads the files in the cache folder, listens on this machine only, and sends nothing anywhere. Open the link that it
prints: it contains the token that the pages require.
"""

from __future__ import annotations

import argparse

from laconic.cli.listen_arguments import add_listen_arguments, listen_as_asked
from laconic.config import Settings

# Everything else is imported inside `run`: most commands never need an HTTP server.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        default="127.0.0.1:0",
        metavar="HOST:PORT",
        help="address to listen on; port 0 means any free port",
    )
    add_listen_arguments(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    from urllib.parse import quote

    from laconic.dashboard.app import make_standalone_application
    from laconic.serving.access_tokens import own_token
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import bind
    from laconic.serving.server import server_for

    where = listen_as_asked(args, settings, args.listen)
    token = where.token or own_token(settings.state_dir())
    app = make_standalone_application(settings, token, allowed_hosts(where, settings.patterns("gateway.hosts")))
    opened = bind(where)
    print(f"laconic dashboard on {where.url(opened)}/?token={quote(token, safe='')}", flush=True)
    server_for(app, where).run(sockets=[opened])
    return 0
