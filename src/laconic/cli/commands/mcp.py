"""Serve the code plane as an MCP server, on standard input and output or over HTTP.

Over HTTP, clients send a token in `Authorization: Bearer`: the one that you chose, or the one in the file `token` of
the state folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from laconic.cli.listen_arguments import add_listen_arguments, listen_as_asked
from laconic.config import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--edit", action="store_true", help="also offer the edit tool")
    parser.add_argument("--http", metavar="HOST:PORT", help="serve streamable HTTP here instead of standard input")
    parser.add_argument(
        "--no-token", action="store_true", help="allow every user of this machine (loopback without a token)"
    )
    add_listen_arguments(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.http:
        return _serve_http(args, settings)
    from laconic.mcp_server import stdio

    stdio.serve(args.root, settings, editing=args.edit)
    return 0


def _serve_http(args: argparse.Namespace, settings: Settings) -> int:
    # Imported here: standard input is the usual way, and needs no HTTP server.
    from laconic.errors import UsageError
    from laconic.mcp_server.http import application
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import bind
    from laconic.serving.server import server_for
    from laconic.serving.tokens import own_token

    where = listen_as_asked(args, settings, args.http)
    if args.no_token and (where.token or not where.local):
        raise UsageError("--no-token needs a loopback address and no token.", "Leave out --no-token, or the token.")
    if args.no_token:
        token = ""
    else:
        token = where.token or own_token(settings.state_dir())
    hosts = allowed_hosts(where, settings.patterns("gateway.hosts"))
    app = application(args.root, settings, hosts, editing=args.edit, token=token)
    opened = bind(where)
    print(f"laconic mcp on {where.url(opened)}/mcp", flush=True)
    server_for(app, where).run(sockets=[opened])
    return 0
