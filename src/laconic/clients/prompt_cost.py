"""What our server adds to each prompt of Claude Code, part by part. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

Count = Callable[[str], int]
_REMINDER: Final = (
    "<system-reminder>\n# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to"
    " use their tools and resources:\n\n## {name}\n{text}\n</system-reminder>"
)
_RESOURCE_TOOLS: Final = 2_149  # bytes of the three tools that Claude Code adds when a server has resources
_BYTES_PER_TOKEN: Final = 4


class PromptPart(msgspec.Struct, frozen=True):
    """One thing that every prompt carries because of us."""

    what: str
    tokens: int


def prompt_parts(
    schemas: Sequence[Mapping[str, Any]], instructions: str, has_resources: bool, server: str, count: Count
) -> list[PromptPart]:
    """The parts as Claude Code writes them; `server` is the name under which it knows ours."""
    parts = []
    if schemas:
        written = []
        for tool in schemas:
            written.append(_dump_tool(tool, server))
        parts.append(PromptPart(f"{len(written)} tool schemas", count(",".join(written))))
    if instructions:
        block = {"type": "text", "text": _REMINDER.format(name=server, text=instructions)}
        parts.append(PromptPart("instructions", count(_dump(block))))
    if has_resources:
        parts.append(PromptPart("three tools for resources", _RESOURCE_TOOLS // _BYTES_PER_TOKEN))
    return parts


def _dump_tool(tool: Mapping[str, Any], server: str) -> str:
    plain = server.replace(":", "_")
    shown = {
        "name": f"mcp__{plain}__{tool['name']}",
        "description": tool.get("description", ""),
        "input_schema": tool.get("inputSchema", {}),
    }
    return _dump(shown)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
