"""The tools of the code plane, one file a tool."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laconic.tool_runtime.tool import Tool

_ORDER = ("search", "inspect", "read", "map", "context", "trace", "diff", "edit", "report", "workspace", "recall")


@cache
def tools() -> dict[str, Tool]:
    """Name to tool, the most used first: the TOOL of every module of this package."""
    found: dict[str, Tool] = {}
    for module in pkgutil.iter_modules(__path__):
        tool: Tool = import_module(f"{__name__}.{module.name}").TOOL
        found[tool.name] = tool
    known = []
    for name in _ORDER:
        if name in found:
            known.append(name)
    made: dict[str, Tool] = {}
    for name in dict.fromkeys([*known, *found]):
        made[name] = found[name]
    return made
