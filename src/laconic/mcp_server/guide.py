"""What a host tells the model about us, and the full help of each tool."""

from __future__ import annotations

from typing import Final

from laconic.errors import UnknownName
from laconic.tools.registry import tools

INSTRUCTIONS: Final = (
    "Answers about this code base, in few tokens. search finds names, text, /regex/, paths or answers a question;"
    " inspect shows a symbol with body, references, callers and tests; context collects code for a task in words;"
    " read shows lines (give several targets at once). Prefer these to grep and cat, and ask for much at once."
    " Each takes budget: tokens, or compact, standard, full."
)


def help_text(name: str) -> str:
    """The help of one tool, as Markdown."""
    found = tools().get(name)
    if found is None:
        raise UnknownName("tool", name, tuple(tools()))
    rows = [
        f"- `{argument.name}`{'' if argument.required else ' (optional)'}: {argument.help or argument.kind}"
        + (f"; one of {', '.join(argument.choices)}" if argument.choices else "")
        for argument in found.fields.values()
    ]
    examples = "".join(f"    {example}\n" for example in found.examples)
    return (
        f"# {found.name}\n\n{found.summary}.\n\n{found.help}\n\nDefault budget: {found.budget} tokens.\n\n"
        + "\n".join(rows)
        + (f"\n\nExamples:\n\n{examples}" if examples else "\n")
    )


def guidance() -> str:
    """What a project's notes for models say of us: short, since every prompt pays for it."""
    offered = ", ".join(f"`{tool.name}`" for tool in tools().values() if tool.default)
    return (
        "## Questions about the code\n\n"
        f"Ask the MCP server `laconic` before you grep, list or read files: {offered}.\n"
        "`search` takes a name, text, /regex/, path or question; `inspect` shows symbols with body, references, callers"
        " and tests; `context` collects the code for a task; `read` takes several targets. Ask for several things in"
        " one call, and do not read a file again that was shown."
    )
