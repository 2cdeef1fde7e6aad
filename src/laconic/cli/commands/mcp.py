"""Serve the code plane as an MCP server, on standard input and output or over HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path

from laconic.config import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--edit", action="store_true", help="offer the edit tool too")
    parser.add_argument("--http", metavar="HOST:PORT", help="serve streamable HTTP here instead of standard input")
    parser.add_argument("--token", help="bearer token that HTTP clients must send (required off loopback)")


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.http:
        from laconic.mcp_server import http

        http.serve(args.http, args.root, settings, _announce, editing=args.edit, token=args.token or "")
        return 0
    from laconic.mcp_server import stdio

    stdio.serve(args.root, settings, editing=args.edit)
    return 0


def _announce(url: str) -> None:
    print(f"laconic mcp on {url}", flush=True)
