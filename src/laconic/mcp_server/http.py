"""The code plane over streamable HTTP, behind the checks that all our listeners share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from laconic.config import Settings
from laconic.mcp_server.server import CodePlane
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.serving.tokens import TokenCheck

SESSIONS: Final = 256  # open at once
IDLE_SECONDS: Final = 30 * 60.0  # after which a session without a request ends


def application(
    root: Path, settings: Settings, hosts: AllowedHosts, *, editing: bool = False, token: str = ""
) -> ASGIApp:
    """The ASGI application; without a token everybody who reaches it is let in."""
    app: ASGIApp = (
        CodePlane(root, settings, editing=editing)
        .server()
        .streamable_http_app(
            session_idle_timeout=IDLE_SECONDS,
            max_sessions=SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck does it
        )
    )
    if token:
        app = TokenCheck(app, token)
    return HostCheck(app, hosts)
