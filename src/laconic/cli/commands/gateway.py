"""Run the gateway: a proxy in front of model providers that keeps conversations small.

Point a client at it (ANTHROPIC_BASE_URL, OPENAI_BASE_URL with /v1, ...); keys stay the client's.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from laconic.cli.listening import add_listen_arguments, listen_as_asked
from laconic.config import Settings
from laconic.errors import BadSetting

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from laconic.conversation.ledger import Branch, LedgerEntry
    from laconic.gateway.engine_adapter import GatewayEngine
    from laconic.gateway.plan import Planner, Policy
    from laconic.gateway.routes import Upstreams
    from laconic.serving.listen import Listen
    from laconic.sessions.archive import Archive
    from laconic.sessions.ledger_file import LedgerFile
    from laconic.wire.prompted.capability import CapabilityMemory

# The gateway is imported inside functions: most commands never need an HTTP server.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--listen", metavar="HOST:PORT", help="address to listen on")
    parser.add_argument("--anthropic-url", default="", metavar="URL", help="where Anthropic's API is")
    parser.add_argument("--openai-url", default="", metavar="URL", help="where OpenAI's API is, or a server like it")
    parser.add_argument("--gemini-url", default="", metavar="URL", help="where Gemini's API is")
    add_listen_arguments(parser)
    parser.add_argument("--off", action="store_true", help="change nothing: only pass requests on")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.gateway.logs import to
    from laconic.serving.listen import bind
    from laconic.serving.server import server_for

    to(sys.stderr)
    where = listen_as_asked(args, settings, args.listen or settings.text("gateway.listen"))
    known = known_upstreams(settings, args.anthropic_url, args.openai_url, args.gemini_url)
    app = application(known, settings, off=args.off, where=where)
    opened = bind(where)
    print(f"laconic gateway on {where.url(opened)}", flush=True)
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


def application(known: Upstreams, settings: Settings, *, off: bool, where: Listen | None = None) -> Starlette:
    """The gateway as the settings want it. Without an address it serves one client, and leaves no token behind."""
    from laconic.dashboard.app import make_application as dashboard
    from laconic.gateway.app import build
    from laconic.gateway.plan import Policy
    from laconic.gateway.turn_recorder import TurnRecorder
    from laconic.mcp_server.instructions import INSTRUCTIONS
    from laconic.models.prices import Prices
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import Listen
    from laconic.sessions.turns import Turns

    policy = Policy(
        enabled=settings.flag("gateway.enabled") and not off,
        off_models=_patterns(settings, "gateway.off_models"),
        native_models=_patterns(settings, "gateway.native_models"),
        prompted_models=_patterns(settings, "gateway.prompted_models"),
        probe=settings.flag("gateway.probe"),
        texts=(msgspec.json.encode(INSTRUCTIONS)[1:-1],),
        max_body=settings.number("gateway.max_body") * 2**20,
    )
    turns = Turns.of(settings)
    memory = _memory(settings)
    ledger, archive = _files(settings)
    make = where is not None
    where = where or Listen("127.0.0.1", 0)
    token = where.token or _viewer_token(settings, make=make)
    return build(
        known,
        _engine(settings, ledger, archive, memory),
        policy,
        where.token,
        hosts=allowed_hosts(where, settings.patterns("gateway.hosts")),
        viewer_token=token,
        history=TurnRecorder(turns, Prices(settings.text("prices"))),
        memory=memory,
        pages={"/laconic/dashboard": dashboard(settings, token)},
        apart=partial(_planner, settings, policy),
        files={"archive": archive, "ledger": ledger, "turns": turns},
    )


def _viewer_token(settings: Settings, *, make: bool) -> str:
    """The token for the numbers and the dashboard. Where none can be kept nobody sees them, and the proxy works."""
    from laconic.serving.tokens import own_token

    if settings.text("gateway.token"):
        return settings.text("gateway.token")
    try:
        return own_token(settings.state_dir(), make=make)
    except BadSetting as error:
        logging.getLogger("laconic.gateway").warning("no token for the dashboard", extra={"reason": str(error)})
        return ""


def engine(settings: Settings) -> GatewayEngine:
    """The conversation engine with its files in the user's folders."""
    return _engine(settings, *_files(settings), _memory(settings))


def _planner(settings: Settings, policy: Policy) -> Planner:
    """A planner of its own, in another process, with the same files."""
    from laconic.gateway.plan import Planner

    return Planner(engine(settings), policy, time.time, _memory(settings))


def _memory(settings: Settings) -> CapabilityMemory:
    """What was learned about models."""
    from laconic.sessions.model_memory import Capabilities

    return Capabilities(settings.state_dir() / "models.json")


def _files(settings: Settings) -> tuple[LedgerFile[LedgerEntry, Branch], Archive]:
    from laconic.conversation.ledger import Branch, LedgerEntry
    from laconic.sessions.archive import Archive
    from laconic.sessions.ledger_file import LedgerFile

    return LedgerFile.of(settings, LedgerEntry, Branch), Archive.of(settings)


def _engine(
    settings: Settings, ledger: LedgerFile[LedgerEntry, Branch], archive: Archive, memory: CapabilityMemory
) -> GatewayEngine:
    from laconic.conversation.engine import ConversationEngine
    from laconic.conversation.engine_options import options_from
    from laconic.gateway.engine_adapter import EngineAdapter
    from laconic.tokens.count import counter

    count = counter(settings.text("model"))
    kept = ConversationEngine(ledger, archive, time.time, count, options_from(settings))
    return EngineAdapter(kept, settings.number("gateway.window"), memory=memory)


def _patterns(settings: Settings, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in settings.text(name).split(","))))
