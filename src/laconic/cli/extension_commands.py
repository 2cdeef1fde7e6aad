"""Commands from other installed packages: entry points in the group `laconic.commands`, each naming a module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Final

from laconic.errors import UsageError

GROUP: Final = "laconic.commands"
INSTALL: Final[Mapping[str, str]] = {  # commands of ours that are not part of this package, and how to get them
    "bench": (
        "The benchmarks are a separate package: run `pip install ./benchmarks` in a clone of the repository,"
        " in the environment that Laconic is installed in."
    )
}


@cache
def find_extensions() -> Mapping[str, EntryPoint]:
    """The commands of other packages by name, without importing them."""
    result: dict[str, EntryPoint] = {}
    for found in entry_points(group=GROUP):
        result[found.name] = found
    return result


def load_extension(name: str) -> ModuleType:
    """The module behind a command of another package."""
    found = find_extensions()[name]
    try:
        module = found.load()
    except (ImportError, AttributeError) as error:
        package = found.dist.name if found.dist else found.module
        raise UsageError(
            f"`laconic {name}` cannot be loaded: {error}.", f"Install {package} again, or uninstall it."
        ) from error
    if not isinstance(module, ModuleType):
        raise UsageError(
            f"`laconic {name}` does not name a module: {found.value}.", f"Fix the entry point in {GROUP}."
        )
    return module
