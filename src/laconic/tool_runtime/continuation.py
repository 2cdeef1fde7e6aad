"""Write a call as the reader can make it: a command for a shell, or a call of a tool for a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from laconic.tool_runtime.tool import Tool, Value


def write_command(tool: Tool, given: Mapping[str, Value], flags: Sequence[str] = ()) -> str:
    """A command line that a shell understands as it is printed; `flags` are options that belong to every command."""
    words: list[str] = []
    options: list[str] = []
    leading = tool.leading
    if not set(leading) <= set(given):
        leading = leading[:1]  # one that stands in for another would be taken for it
    for name, value in given.items():
        if isinstance(value, list):
            values = []
            for each in value:
                values.append(str(each))
        else:
            values = [str(value)]
        if name in leading and not any(each.startswith("-") for each in values):
            words += values
        elif name == "format":
            options += ["--json"] if value == "json" else []
        elif value is True:
            options.append(_flag(name))
        elif len(values) == 1:
            options.append(f"{_flag(name)}={values[0]}")
        else:
            options += [_flag(name), *values]
    return " ".join(map(quote, ["laconic", tool.name, *words, *options, *flags]))


def write_call(tool: Tool, given: Mapping[str, Value]) -> str:
    """A call in the words of a client."""
    words = []
    for name, value in given.items():
        if name == tool.arguments[0].name:
            words.append(repr(value))
        else:
            words.append(f"{name}={value!r}")
    return f"{tool.name}({', '.join(words)})"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
