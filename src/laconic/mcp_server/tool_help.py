"""The full help of each tool, and the section about Laconic in a project's notes for models."""

from __future__ import annotations

from laconic.errors import UnknownName
from laconic.tool_runtime.tool import Argument
from laconic.tools import tools


def help_text(name: str) -> str:
    """The help of one tool, as Markdown."""
    found = tools().get(name)
    if found is None:
        raise UnknownName("tool", name, tuple(tools()))
    rows = []
    for argument in found.fields.values():
        rows.append(
            f"- `{argument.name}`{'' if argument.required else ' (optional)'}: {_describe(argument)}"
            + (f"; one of {', '.join(argument.choices)}" if argument.choices else "")
        )
    examples = "".join(f"    {example}\n" for example in found.examples)
    return (
        f"# {found.name}\n\n{found.summary}.\n\n{found.help}\n\nDefault budget: {found.budget} tokens.\n\n"
        + "\n".join(rows)
        + (f"\n\nExamples:\n\n{examples}" if examples else "\n")
    )


def _describe(argument: Argument) -> str:
    return argument.explained or argument.help or argument.kind


def write_project_notes() -> str:
    """What a project's notes for models say of us: short, since every prompt pays for it."""
    offered = ", ".join(f"`{tool.name}`" for tool in tools().values() if tool.default)
    return (
        "## Questions about the code\n\n"
        f"Ask the MCP server `laconic` before you grep, list or read files: {offered}.\n"
        "`search` takes a name, text, /regex/, path or question; `inspect` shows symbols with body, references, callers"
        " and tests; `context` collects the code for a task; `read` takes several targets. Ask for several things in"
        " one call, and do not read a file again that was shown.\n"
        "Mark a task as in progress before you research it. Set `budget` to compact for a first look."
        " `recall` brings back what a note in brackets names."
    )
