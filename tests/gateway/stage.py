"""A gateway between a client and a scripted provider, all on loopback, in one loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from laconic.exchange.engine_adapter import PassThroughEngine, RequestEngine
from laconic.exchange.recall import Recall
from laconic.gateway.app import TeamParts, build
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.routes import Upstreams
from laconic.gateway.scripted_upstream import Script, ScriptedUpstream
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.serving.connection_limits import ConnectionBounds
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for
from laconic.serving.telemetry import Telemetry
from laconic.wire.prompted_tool_calls.capability import CapabilityMemory

VIEWER = "who may see the numbers"


@dataclass
class Stage:
    upstream: ScriptedUpstream
    client: aiohttp.ClientSession
    base: str

    async def post(self, path: str, body: bytes, **headers: str) -> tuple[int, dict[str, str], bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.post(self.base + path, data=body, headers=named) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, await answer.read()

    async def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """As somebody who may see the numbers, unless other headers say otherwise."""
        named = {"x-laconic-token": VIEWER} | {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.get(self.base + path, headers=named) as answer:
            return answer.status, await answer.read()


@asynccontextmanager
async def stage(
    script: Script,
    engine: RequestEngine | None = None,
    policy: GatewayPolicy | None = None,
    token: str = "",
    *,
    history: TurnRecorder | None = None,
    memory: CapabilityMemory | None = None,
    recall: Recall | None = None,
    bounds: ConnectionBounds | None = None,
    team: TeamParts | None = None,
    telemetry: Telemetry | None = None,
) -> AsyncIterator[Stage]:
    async with ScriptedUpstream(script) as upstream:
        known = Upstreams(upstream.url, upstream.url, upstream.url, {"local": upstream.url, "ollama": upstream.url})
        app = build(
            known,
            engine or PassThroughEngine(),
            policy or GatewayPolicy(),
            token,
            viewer_token=VIEWER,
            history=history,
            memory=memory,
            recall=recall,
            team=team,
            telemetry=telemetry,
        )
        where = listen("127.0.0.1:0", "", "", "", insecure=False)
        opened = bind(where)
        server = server_for(app, where, bounds)
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started:
            await asyncio.sleep(0.01)
        base = f"http://127.0.0.1:{opened.getsockname()[1]}"
        try:
            async with aiohttp.ClientSession(auto_decompress=False) as client:
                yield Stage(upstream, client, base)
        finally:
            server.should_exit = True
            await serving


def play(
    scene: Callable[[Stage], Awaitable[None]],
    script: Script,
    engine: RequestEngine | None = None,
    policy: GatewayPolicy | None = None,
    token: str = "",
    *,
    history: TurnRecorder | None = None,
    memory: CapabilityMemory | None = None,
    recall: Recall | None = None,
    bounds: ConnectionBounds | None = None,
    team: TeamParts | None = None,
) -> None:
    """Run one scene on a fresh stage."""

    async def run() -> None:
        async with stage(
            script,
            engine,
            policy,
            token,
            history=history,
            memory=memory,
            recall=recall,
            bounds=bounds,
            team=team,
        ) as where:
            await asyncio.wait_for(scene(where), 20)

    asyncio.run(run())
