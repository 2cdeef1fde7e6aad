"""How long each request to the MCP server took, for telemetry. The spans are written by the SDK itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from laconic.serving.telemetry import Telemetry

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext


class RequestTiming:
    """A middleware of the SDK's server."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    async def __call__(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        began, fault = time.monotonic(), ""
        try:
            result = await call_next(ctx)
            if isinstance(result, dict) and result.get("isError") is True:
                fault = "tool_error"
        except BaseException as error:
            fault = type(error).__qualname__
            raise
        finally:
            self._telemetry.record_tool_call(ctx.method, _tool(ctx), time.monotonic() - began, fault)
        return result


def _tool(ctx: ServerRequestContext[Any]) -> str:
    if ctx.method != "tools/call" or not ctx.params:
        return ""
    return str(ctx.params.get("name", ""))
