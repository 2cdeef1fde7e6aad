"""What the server offers, as the plain data of the protocol: tools and resources. Loads nothing of the SDK."""

from __future__ import annotations

from typing import Final

from laconic.render.compact_json import Json
from laconic.tool_runtime.tool import Tool
from laconic.tools import tools

SCHEME: Final = "laconic://"
TEMPLATES: Final[list[dict[str, Json]]] = [
    {"uriTemplate": f"{SCHEME}recall/{{ref}}", "name": "recall", "mimeType": "text/plain"}
]


def offered_tools(*, editing: bool) -> list[Tool]:
    """The tools of a server; writing ones only when they were switched on."""
    found: list[Tool] = []
    for tool in tools().values():
        if tool.default or (tool.writes and editing):
            found.append(tool)
    return found


def list_tools(*, editing: bool, running: bool = False) -> list[dict[str, Json]]:
    """The tool list, which every prompt pays for; `running` says that the settings allow programs."""
    found: list[dict[str, Json]] = []
    for tool in offered_tools(editing=editing):
        found.append(
            {
                "name": tool.name,
                "description": tool.summary,
                "inputSchema": tool.schema(),
                "annotations": hints(tool, running=running),
            }
        )
    return found


def hints(tool: Tool, *, running: bool) -> dict[str, Json]:
    """What a call may do besides answering: hosts run what only reads without asking, and several at once."""
    runs = tool.runs and running
    if not (tool.writes or tool.manages or runs):
        return {"readOnlyHint": True, "openWorldHint": False}
    return {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": tool.manages,  # to add or remove an index twice is to do it once
        "openWorldHint": runs,  # a build may fetch what it needs, a test may do anything
    }


def list_resources(*, editing: bool) -> list[dict[str, Json]]:
    """The full help of each tool."""
    found: list[dict[str, Json]] = []
    for tool in offered_tools(editing=editing):
        found.append({"uri": f"{SCHEME}help/{tool.name}", "name": f"{tool.name} help", "mimeType": "text/markdown"})
    return found
