"""Serve the code plane as an MCP server, on standard input and output or over HTTP.

With --around, it sits in front of other MCP servers instead: those in a configuration file, or those that your clients
are set up with, by name.

Over HTTP, clients send a token in `Authorization: Bearer`: the one that you chose, or the one in the file `token` in
the state folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.cli.listen_arguments import add_listen_arguments, listen_as_asked
from laconic.config import Settings

if TYPE_CHECKING:
    from laconic.mcp_proxy.relay import MakeRelay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--edit", action="store_true", help="also offer the edit tool")
    parser.add_argument(
        "--behind-gateway",
        action="store_true",
        help="for clients behind a Laconic gateway: answer in full; the gateway replaces what the model already has",
    )
    parser.add_argument("--http", metavar="HOST:PORT", help="serve streamable HTTP at this address instead")
    parser.add_argument("--no-token", action="store_true", help="let in every user of this machine (loopback only)")
    parser.add_argument(
        "--around",
        nargs="+",
        metavar="FILE|NAME",
        help="shorten the tool lists and results of these MCP servers",
    )
    add_listen_arguments(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.http:
        return _serve_http(args, settings)
    if args.around:
        import asyncio

        from laconic.mcp_proxy.stdio_front import serve_stdio
        from laconic.serving.stdio_lines import LineReader

        asyncio.run(serve_stdio(_relay_maker(args, settings), LineReader.claim()))
        return 0
    from laconic.clients.tools_wait import ListedMark
    from laconic.mcp_server import stdio

    mark = ListedMark(settings.state_dir())
    try:
        stdio.serve(args.root, settings, editing=args.edit, behind_gateway=args.behind_gateway, listed=mark.put)
    finally:
        mark.remove()
    return 0


def _relay_maker(args: argparse.Namespace, settings: Settings) -> MakeRelay:
    from laconic.clients.setup import ClientFolders
    from laconic.config import child_environment
    from laconic.mcp_proxy.definitions import read_definitions
    from laconic.mcp_proxy.relay_maker import relay_maker

    root = args.root.resolve()
    definitions = read_definitions(args.around, ClientFolders(root, child_environment()))
    return relay_maker(definitions, settings, root)


def _serve_http(args: argparse.Namespace, settings: Settings) -> int:
    # Imported here: standard input is the usual way, and needs no HTTP server.
    from laconic.errors import UsageError
    from laconic.mcp_proxy.http_front import around_application
    from laconic.mcp_server.http import application
    from laconic.serving.access_tokens import own_token
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import bind
    from laconic.serving.server import server_for

    where = listen_as_asked(args, settings, args.http)
    if args.no_token and (where.token or not where.local):
        raise UsageError("--no-token needs a loopback address and no token.", "Leave out --no-token, or the token.")
    if args.no_token:
        token = ""
    else:
        token = where.token or own_token(settings.state_dir())
    hosts = allowed_hosts(where, settings.patterns("gateway.hosts"))
    if args.around:
        app = around_application(_relay_maker(args, settings), hosts, token)
    else:
        app = application(
            args.root, settings, hosts, editing=args.edit, behind_gateway=args.behind_gateway, token=token
        )
    opened = bind(where)
    print(f"laconic mcp on {where.url(opened)}/mcp", flush=True)
    server_for(app, where).run(sockets=[opened])
    return 0
