"""A server of the SDK over HTTP: `python remote_server.py PORT http|sse`. It tells which headers a call came with."""

from __future__ import annotations

import sys
from typing import Any, Literal, cast

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("far")


@server.tool()
async def headers(ctx: Context[Any]) -> str:
    """The authorization that came with the call."""
    await ctx.report_progress(1, 2)
    request = ctx.request_context.request
    return str(request.headers.get("authorization")) if request else "none"


@server.tool()
def long(lines: int) -> str:
    """Many lines."""
    return "\n".join(f"2026-01-01T00:00:{i % 60:02d} INFO request {i} served" for i in range(lines))


server.run(cast(Literal["streamable-http", "sse"], sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]))
