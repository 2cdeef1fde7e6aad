"""Put a relay together from the settings, for each session of a client."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from laconic.clients.registry import searches_tools
from laconic.config import Settings, child_environment
from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.mcp_proxy.relay import MakeRelay, Relay, RelayParts, Send
from laconic.mcp_proxy.results import ResultReducer
from laconic.mcp_proxy.server_group import ServerGroup
from laconic.mcp_proxy.server_listings import Catalogue
from laconic.mcp_proxy.tool_calls import ToolCalls
from laconic.tokens.count import counter
from laconic.workspace.git import home


def relay_maker(definitions: list[ServerDefinition], settings: Settings, root: Path) -> MakeRelay:
    """A function that makes the relay of a session, for whoever has a way to send to the client."""
    environment = child_environment()
    project = home(root)
    cost = counter(settings.text("model"))

    def make_calls(group: ServerGroup) -> ToolCalls:
        reducers = [ResultReducer(settings, cost, str(project)) for _ in range(2)]
        return ToolCalls(group, settings, (reducers[0], reducers[1]), cost)

    def make(send: Send) -> Relay:
        parts = RelayParts(
            catalogue=Catalogue(settings.cache_dir(), project),
            environment=environment,
            make_calls=make_calls,
            lists_in_full=_full_lists(settings),
            start_seconds=settings.ratio("around.start_seconds"),
            limit=settings.number("around.limit_mb") * 1_000_000,
        )
        return Relay(definitions, parts, send)

    return make


def _full_lists(settings: Settings) -> Callable[[str], bool]:
    wanted = settings.text("around.schemas")

    def decide(client: str) -> bool:
        if wanted != "auto":
            return wanted == "full"
        return searches_tools(client, child_environment())

    return decide
