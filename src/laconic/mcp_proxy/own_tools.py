"""The tools that we add: `call` and `look` with a line for each foreign tool, `tools`, `pipeline` and `recall`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from laconic.mcp_proxy.messages import Message
from laconic.mcp_proxy.tool_directory import ForeignTool
from laconic.mcp_proxy.tool_lines import WIDTHS, describe_tool, properties_of, visible

CALL: Final = "call"
LOOK: Final = "look"
TOOLS: Final = "tools"
PIPELINE: Final = "pipeline"
RECALL: Final = "recall"
NAMES: Final = (CALL, LOOK, TOOLS, PIPELINE, RECALL)

ABOUT: Final = "about"
_ABOUT: Final = {"type": "string", "description": "What you want to know; long results are shortened around it"}
_TOOL_AND_ARGUMENTS: Final = {"tool": {"type": "string"}, "arguments": {"type": "object"}, ABOUT: _ABOUT}
_READS: Final = {"readOnlyHint": True}
_STEPS_HELP: Final = (
    "Runs steps with tools that only read, and answers with the last value. Steps: {call, arguments, each: $list},"
    " {select: $a.items, fields}, {filter: $a, where: {k: v, n: {'>': 3}}}, {join: [$a, $b], on}, {count: $a, by}, sum,"
    " sort, unique, {limit: $a, to}, {lines: $a, match: regex}. `as` names a value, $item is that of each."
)


def call_tool(listed: str) -> Message:
    """The tool through which others are called; its description lists them."""
    return {
        "name": CALL,
        "description": f"Calls one of these tools. * only reads: use look.\n{listed}",
        "inputSchema": {"type": "object", "properties": _TOOL_AND_ARGUMENTS, "required": ["tool"]},
        "annotations": {"readOnlyHint": False},
    }


def look_tool() -> Message:
    return {
        "name": LOOK,
        "description": "Like call, for tools with *",
        "inputSchema": {"type": "object", "properties": _TOOL_AND_ARGUMENTS, "required": ["tool"]},
        "annotations": _READS,
    }


def tools_tool() -> Message:
    return {
        "name": TOOLS,
        "description": "Whole schemas of tools by name, or tools that fit a query",
        "inputSchema": {
            "type": "object",
            "properties": {"names": {"type": "array", "items": {"type": "string"}}, "query": {"type": "string"}},
        },
        "annotations": _READS,
    }


def pipeline_tool() -> Message:
    return {
        "name": PIPELINE,
        "description": _STEPS_HELP,
        "inputSchema": {
            "type": "object",
            "properties": {"steps": {"type": "array", "items": {"type": "object"}}},
            "required": ["steps"],
        },
        "annotations": _READS,
    }


def recall_tool() -> Message:
    return {
        "name": RECALL,
        "description": "What a result left out: about a question, rows or lines that match grep, lines 40-80, or a path"
        " into JSON (items[*].id)",
        "inputSchema": {
            "type": "object",
            "properties": {
                "ref": {"type": "string"},
                ABOUT: {"type": "string"},
                "lines": {"type": "string"},
                "grep": {"type": "string"},
                "path": {"type": "string"},
            },
            "required": ["ref"],
        },
        "annotations": _READS,
        "_meta": {"anthropic/alwaysLoad": True},  # Claude Code would have to search for it first
    }


def add_about(tool: Message) -> Message:
    """A foreign tool with an argument by which the caller says what it wants to know, unless it has one of that name."""
    schema = tool.get("inputSchema")
    if not isinstance(schema, Mapping) or takes_about(tool):
        return tool
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        properties = {}
    return {**tool, "inputSchema": {**schema, "properties": {**properties, ABOUT: _ABOUT}}}


def takes_about(tool: Message) -> bool:
    """Whether a foreign tool has an argument of that name itself."""
    return ABOUT in properties_of(tool)


def part_about(tool: Message, arguments: Message) -> tuple[Message, str]:
    """The arguments that are the server's, and what the caller wants to know."""
    about = arguments.get(ABOUT)
    if not isinstance(about, str) or takes_about(tool):
        return arguments, ""
    return {name: value for name, value in arguments.items() if name != ABOUT}, about


def list_tools(
    tools: Sequence[ForeignTool], servers: Sequence[str], unknown: Sequence[str], width: int = WIDTHS[0]
) -> str:
    """A line for each tool below the name of its server."""
    rows: list[str] = []
    for server in servers:
        own = [one for one in tools if one.server == server]
        if own:
            rows.append(f"# {visible(server, 60)}")
        for one in own:
            rows.append(describe_tool(one.name, one.tool, width))
    for server in unknown:
        rows.append(f"# {visible(server, 60)}: not started yet; look its tools up with {TOOLS}")
    return "\n".join(rows)
