"""What the server offers, as the plain data of the protocol: tools and resources. Loads nothing of the SDK."""

from __future__ import annotations

from typing import Final

from laconic.render.compact import Json
from laconic.tools.registry import tools
from laconic.tools.tool import Tool

SCHEME: Final = "laconic://"
TEMPLATES: Final[list[dict[str, Json]]] = [
    {"uriTemplate": f"{SCHEME}recall/{{ref}}", "name": "recall", "mimeType": "text/plain"}
]


def offered(*, editing: bool) -> list[Tool]:
    """The tools of a server; writing ones only when they were switched on."""
    return [tool for tool in tools().values() if tool.default or (tool.writes and editing)]


def listed_tools(*, editing: bool) -> list[dict[str, Json]]:
    """The tool list, which every prompt pays for; hosts run what only reads without asking, and several at once."""
    return [
        {
            "name": tool.name,
            "description": tool.summary,
            "inputSchema": tool.schema(),
            "annotations": {"readOnlyHint": not tool.writes},
        }
        for tool in offered(editing=editing)
    ]


def listed_resources(*, editing: bool) -> list[dict[str, Json]]:
    """The full help of each tool."""
    return [
        {"uri": f"{SCHEME}help/{tool.name}", "name": f"{tool.name} help", "mimeType": "text/markdown"}
        for tool in offered(editing=editing)
    ]
