"""Serve MCP on standard input and output."""

from __future__ import annotations

import asyncio
from pathlib import Path

from laconic.config import Settings


def serve(root: Path, settings: Settings, *, editing: bool = False) -> None:
    """Run until the client closes the stream."""
    asyncio.run(_serve(root, settings, editing))


async def _serve(root: Path, settings: Settings, editing: bool) -> None:
    from mcp.server.stdio import stdio_server

    from laconic.mcp_server.server import CodePlane

    server = CodePlane(root, settings, editing=editing).server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
