"""All tools: every module of this package that holds a TOOL."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from laconic import tools as package
from laconic.tools.tool import Tool

_ORDER = ("search", "inspect", "read", "map", "context", "trace", "diff", "edit", "report", "workspace", "recall")


@cache
def tools() -> dict[str, Tool]:
    """Name to tool, the most used first."""
    found: dict[str, Tool] = {}
    for module in pkgutil.iter_modules(package.__path__):
        tool = getattr(import_module(f"{package.__name__}.{module.name}"), "TOOL", None)
        if isinstance(tool, Tool):
            found[tool.name] = tool
    return dict(sorted(found.items(), key=lambda item: _ORDER.index(item[0]) if item[0] in _ORDER else 99))
