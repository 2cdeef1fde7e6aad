"""Run the gateway: a proxy between your client and model providers that keeps conversations small.

Point a client at it (ANTHROPIC_BASE_URL, OPENAI_BASE_URL with /v1, ...). The client keeps its own keys.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from laconic.cli.listen_arguments import add_listen_arguments, listen_as_asked
from laconic.config import Settings
from laconic.errors import BadSetting, UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp

    from laconic.exchange.engine_adapter import RequestEngine
    from laconic.gateway.app import TeamParts
    from laconic.gateway.planner import GatewayPolicy, Planner
    from laconic.gateway.routes import Upstreams
    from laconic.models.price_lookup import Prices
    from laconic.serving.listen import ListenAddress
    from laconic.serving.readiness import Readiness
    from laconic.sessions.team.keys import TeamKeys

# The gateway is imported inside functions: most commands never need an HTTP server.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--listen", metavar="HOST:PORT", help="address to listen on")
    parser.add_argument("--anthropic-url", default="", metavar="URL", help="address of Anthropic's API")
    parser.add_argument(
        "--openai-url", default="", metavar="URL", help="address of OpenAI's API, or of a compatible server"
    )
    parser.add_argument("--gemini-url", default="", metavar="URL", help="address of Gemini's API")
    parser.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="a team's database, postgresql://USER@HOST/NAME, which replicas share",
    )
    add_listen_arguments(parser)
    parser.add_argument("--off", action="store_true", help="pass requests on unchanged, and only count their cost")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.gateway.logs import to
    from laconic.serving.listen import bind
    from laconic.serving.readiness import Readiness
    from laconic.serving.server import server_for

    to(sys.stderr)
    settings = with_store(settings, args.store)
    readiness = Readiness(settings.ratio("gateway.notice"), settings.ratio("gateway.drain"))
    where = listen_as_asked(args, settings, args.listen or settings.text("gateway.listen"))
    known = known_upstreams(settings, args.anthropic_url, args.openai_url, args.gemini_url)
    app = application(known, settings, off=args.off, where=where, readiness=readiness)
    opened = bind(where)
    print(f"laconic gateway on {where.url(opened)}", flush=True)
    server_for(app, where, readiness=readiness).run(sockets=[opened])
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


def with_store(settings: Settings, url: str) -> Settings:
    """The settings with the database that a flag names."""
    if not url:
        return settings
    if urlsplit(url).password:
        raise UsageError(
            "A password on the command line can be read by every user of this machine.",
            "Set LACONIC_STORE, or leave the password to PGPASSWORD or a .pgpass file.",
        )
    return Settings({**settings, "store": url})


def application(
    known: Upstreams,
    settings: Settings,
    *,
    off: bool,
    where: ListenAddress | None = None,
    readiness: Readiness | None = None,
) -> Starlette:
    """The gateway as the settings want it. Without an address it serves one client, and leaves no token behind."""
    from laconic.exchange.exchange_parts import ExchangeParts
    from laconic.gateway.app import build
    from laconic.gateway.planner import GatewayPolicy
    from laconic.gateway.turn_recorder import TurnRecorder
    from laconic.mcp_server.server_instructions import INSTRUCTIONS
    from laconic.serving.hosts import allowed_hosts
    from laconic.serving.listen import ListenAddress
    from laconic.serving.on_demand import OnDemandApplication
    from laconic.serving.telemetry import open_telemetry

    policy = GatewayPolicy(
        enabled=settings.flag("gateway.enabled") and not off,
        off_models=_patterns(settings, "gateway.off_models"),
        native_models=_patterns(settings, "gateway.native_models"),
        prompted_models=_patterns(settings, "gateway.prompted_models"),
        probe=settings.flag("gateway.probe"),
        texts=(msgspec.json.encode(INSTRUCTIONS)[1:-1],),
        max_body=settings.number("gateway.max_body") * 2**20,
    )
    parts = ExchangeParts.open(settings)
    make = where is not None
    where = where or ListenAddress("127.0.0.1", 0)
    token = where.token or _viewer_token(settings, make=make)
    team = _team(settings, parts.prices)
    pages: dict[str, ASGIApp] = {"/laconic/dashboard": OnDemandApplication(partial(_dashboard, settings, token))}
    if team is not None and team.access is not None:
        pages["/laconic/team"] = OnDemandApplication(partial(_team_pages, team.access.keys, token))
        if settings.text("team.oidc_issuer"):
            pages["/laconic/login"] = _login(settings, team.access.keys)
    return build(
        known,
        parts.engine(settings.number("gateway.window")),
        policy,
        where.token,
        hosts=allowed_hosts(where, settings.patterns("gateway.hosts")),
        viewer_token=token,
        history=TurnRecorder(parts.account()),
        memory=parts.memory,
        recall=parts.recall(),
        pages=pages,
        apart=partial(_planner, settings, policy),
        files={"archive": parts.archive, "ledger": parts.ledger, "turns": parts.turns},
        readiness=readiness,
        team=team,
        telemetry=open_telemetry(settings, "laconic-gateway"),
    )


def _dashboard(settings: Settings, token: str) -> ASGIApp:
    from laconic.dashboard.app import make_application

    return make_application(settings, token)


def _team_pages(keys: TeamKeys, token: str) -> ASGIApp:
    from laconic.dashboard.team_app import make_team_application

    return make_team_application(keys, token)


def _team(settings: Settings, prices: Prices) -> TeamParts | None:
    """What takes keys of a team, if the settings say where the providers' keys are."""
    from laconic.gateway.app import TeamParts
    from laconic.gateway.provider_keys import read_provider_keys
    from laconic.gateway.team_access import TeamAccess
    from laconic.sessions.team.keys import TeamKeys

    provider_keys = read_provider_keys(settings.text("team.provider_keys"))
    if not provider_keys:
        if settings.flag("team.required"):
            raise BadSetting(
                "team.required is set, and team.provider_keys names no key.", "Name the keys of the providers."
            )
        return None
    access = TeamAccess(TeamKeys.of(settings), prices, grace=settings.ratio("team.grace"))
    return TeamParts(access, provider_keys, settings.flag("team.required"))


def _login(settings: Settings, keys: TeamKeys) -> Starlette:
    """What gives keys to people of an organisation."""
    try:
        from laconic.gateway.identity_provider import IdentityProvider
        from laconic.gateway.team_login import TeamLogin, make_login_application
    except ImportError:
        raise BadSetting(
            "Login needs a package that is not installed.", "Install laconic[team], or leave team.oidc_issuer empty."
        ) from None
    provider = IdentityProvider(
        settings.text("team.oidc_issuer"),
        settings.text("team.oidc_client"),
        claim=settings.text("team.oidc_claim"),
        team_claim=settings.text("team.oidc_team_claim"),
    )
    return make_login_application(TeamLogin(provider, keys, settings))


def _viewer_token(settings: Settings, *, make: bool) -> str:
    """The token for the numbers and the dashboard. Where none can be kept nobody sees them, and the proxy works."""
    from laconic.serving.access_tokens import own_token

    if settings.text("gateway.token"):
        return settings.text("gateway.token")
    try:
        return own_token(settings.state_dir(), make=make)
    except BadSetting as error:
        logging.getLogger("laconic.gateway").warning("no token for the dashboard", extra={"reason": str(error)})
        return ""


def engine(settings: Settings) -> RequestEngine:
    """The conversation engine with its files in the user's folders."""
    from laconic.exchange.exchange_parts import ExchangeParts

    return ExchangeParts.open(settings).engine(settings.number("gateway.window"))


def _planner(settings: Settings, policy: GatewayPolicy) -> Planner:
    """A planner of its own, in another process, with the same files."""
    from laconic.exchange.exchange_parts import ExchangeParts
    from laconic.gateway.planner import Planner

    parts = ExchangeParts.open(settings)
    return Planner(parts.engine(settings.number("gateway.window")), policy, time.time, parts.memory, parts.recall())


def _patterns(settings: Settings, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in settings.text(name).split(","))))
