"""Run the gateway: a proxy in front of model providers that keeps conversations small.

Point a client at it (ANTHROPIC_BASE_URL, OPENAI_BASE_URL with /v1, ...); keys stay the client's.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from laconic.config import Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from laconic.gateway.engine import Engine
    from laconic.gateway.routes import Upstreams

# The gateway is imported inside functions: most commands never need an HTTP server.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--listen", metavar="HOST:PORT", help="address to listen on")
    parser.add_argument("--anthropic-url", default="", metavar="URL", help="where Anthropic's API is")
    parser.add_argument("--openai-url", default="", metavar="URL", help="where OpenAI's API is, or a server like it")
    parser.add_argument("--gemini-url", default="", metavar="URL", help="where Gemini's API is")
    parser.add_argument("--certificate", default="", metavar="FILE", help="certificate for TLS")
    parser.add_argument("--key", default="", metavar="FILE", help="key of the certificate")
    parser.add_argument("--insecure", action="store_true", help="allow plain HTTP on an address that others reach")
    parser.add_argument("--off", action="store_true", help="change nothing: only pass requests on")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.gateway.logs import to
    from laconic.gateway.server import bind, listen, server_for

    to(sys.stderr)
    where = listen(
        args.listen or settings.text("gateway.listen"),
        settings.text("gateway.token"),
        args.certificate,
        args.key,
        insecure=args.insecure,
    )
    known = known_upstreams(settings, args.anthropic_url, args.openai_url, args.gemini_url)
    app = application(known, settings, off=args.off, token=where.token)
    opened = bind(where)
    host, port = opened.getsockname()[:2]
    print(f"laconic gateway on http{'s' if where.certificate else ''}://{host}:{port}", flush=True)
    server_for(app, where).run(sockets=[opened])
    return 0


def known_upstreams(settings: Settings, anthropic: str, openai: str, gemini: str = "") -> Upstreams:
    """Providers: those given, else those of the settings."""
    from laconic.gateway.routes import upstreams

    return upstreams(
        anthropic or settings.text("gateway.anthropic_url"),
        openai or settings.text("gateway.openai_url"),
        gemini or settings.text("gateway.gemini_url"),
        settings.text("gateway.upstreams"),
    )


def application(known: Upstreams, settings: Settings, *, off: bool, token: str = "") -> Starlette:
    """The gateway as the settings want it."""
    from laconic.dashboard.app import application as dashboard
    from laconic.gateway.app import build
    from laconic.gateway.history import History
    from laconic.gateway.plan import Policy
    from laconic.mcp_server.instructions import INSTRUCTIONS
    from laconic.sessions.capabilities import Capabilities
    from laconic.sessions.turns import FILE, Turns

    policy = Policy(
        enabled=settings.flag("gateway.enabled") and not off,
        off_models=_patterns(settings, "gateway.off_models"),
        native_models=_patterns(settings, "gateway.native_models"),
        prompted_models=_patterns(settings, "gateway.prompted_models"),
        probe=settings.flag("gateway.probe"),
        texts=(msgspec.json.encode(INSTRUCTIONS)[1:-1],),
        max_body=settings.number("gateway.max_body") * 2**20,
    )
    turns = Turns.usable(settings.cache_dir() / FILE)
    history = History(turns) if turns else None
    memory = Capabilities(settings.state_dir() / "models.json")
    pages = {"/laconic/dashboard": dashboard(settings, token)}
    return build(known, engine(settings), policy, token, history=history, memory=memory, pages=pages)


def engine(settings: Settings) -> Engine:
    """The conversation engine with its files in the user's cache folder."""
    from laconic.context.engine import Engine as ContextEngine
    from laconic.context.ledger import Decision, Recap
    from laconic.context.options import options_from
    from laconic.gateway.engine import Keeping
    from laconic.sessions.archive import Archive
    from laconic.sessions.ledger import LedgerFile
    from laconic.tokens.count import counter

    folder = settings.cache_dir()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    ledger = LedgerFile(folder / "ledger.sqlite", Decision, Recap)
    count = counter(settings.text("model"))
    kept = ContextEngine(ledger, Archive.of(settings), time.time, count, options_from(settings))
    return Keeping(kept, settings.number("gateway.window"))


def _patterns(settings: Settings, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in settings.text(name).split(","))))
