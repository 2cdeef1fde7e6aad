"""Show where tokens went, in a browser: sessions, tools, files, models, money, live.

It reads the files of the cache folder, listens on this machine only, and sends nothing anywhere.
"""

from __future__ import annotations

import argparse

from laconic.config import Settings

# Everything is imported inside `run`: most commands never need an HTTP server.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        default="127.0.0.1:0",
        metavar="HOST:PORT",
        help="address to listen on; port 0 is any that is free",
    )
    parser.add_argument("--certificate", default="", metavar="FILE", help="certificate for TLS")
    parser.add_argument("--key", default="", metavar="FILE", help="key of the certificate")
    parser.add_argument("--insecure", action="store_true", help="allow plain HTTP on an address that others reach")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    from laconic.dashboard.app import application
    from laconic.gateway.server import bind, listen, server_for

    token = settings.text("gateway.token")
    where = listen(args.listen, token, args.certificate, args.key, insecure=args.insecure)
    app = Starlette(routes=[Mount("/", application(settings, "" if where.local else token))])
    opened = bind(where)
    host, port = opened.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"laconic dashboard on http{'s' if where.certificate else ''}://{shown}:{port}/", flush=True)
    server_for(app, where).run(sockets=[opened])
    return 0
