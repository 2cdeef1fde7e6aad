"""The code plane over streamable HTTP, behind the checks that all our listeners share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from laconic.config import Settings
from laconic.mcp_server.server import CodePlane
from laconic.serving.access_tokens import TokenCheck
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.serving.session_limit import SessionLimit

_SPARE: Final = 64  # sessions above the limit that may be open while others are being ended


class SessionLimits(msgspec.Struct, frozen=True):
    """How many sessions may be open, and how long one may be silent."""

    sessions: int = 256
    idle_seconds: float = 30 * 60.0


def application(
    root: Path,
    settings: Settings,
    hosts: AllowedHosts,
    *,
    editing: bool = False,
    behind_gateway: bool = False,
    token: str = "",
    limits: SessionLimits | None = None,
) -> ASGIApp:
    """The ASGI application; without a token everybody who reaches it is let in."""
    limits = limits or SessionLimits()
    server = CodePlane(root, settings, editing=editing, behind_gateway=behind_gateway).server()
    app: ASGIApp = server.streamable_http_app(
        session_idle_timeout=limits.idle_seconds,
        max_sessions=limits.sessions + _SPARE,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck does it
    )
    app = SessionLimit(app, limits.sessions)
    if token:
        app = TokenCheck(app, token)
    return HostCheck(app, hosts)
