"""What the aliases of a Gradle version catalogue stand for: `libs.junit` is a module, `libs.bundles.testing` several."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

Catalogue = Mapping[str, tuple[str, ...]]


def find_places(manifest: str) -> Iterator[str]:
    """Where the catalogue for a build script can be, the nearest place first."""
    for folder in PurePosixPath(manifest).parents:
        yield (folder / "gradle" / "libs.versions.toml").as_posix()


def read_catalogue(text: str) -> Catalogue:
    """Modules by the alias that build scripts write; nothing where the file cannot be read."""
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except ValueError:
        return {}
    modules: dict[str, str] = {}
    for alias, given in _table(data, "libraries"):
        if name := _name_module(given):
            modules[alias] = name
    found: dict[str, tuple[str, ...]] = {}
    for alias, name in modules.items():
        found[f"libs.{_dotted(alias)}"] = (name,)
    for alias, given in _table(data, "bundles"):
        if isinstance(given, list):
            found[f"libs.bundles.{_dotted(alias)}"] = tuple(modules.get(str(each), str(each)) for each in given)
    for alias, given in _table(data, "plugins"):
        name = str(given.get("id", "")) if isinstance(given, dict) else str(given).partition(":")[0]
        if name:
            found[f"libs.plugins.{_dotted(alias)}"] = (name,)
    return found


def name_modules(needs: Iterable[str], catalogue: Catalogue) -> tuple[str, ...]:
    """Dependencies by what they are; an alias that the catalogue lacks stays."""
    found: dict[str, None] = {}
    for need in needs:
        found |= dict.fromkeys(catalogue.get(need, (need,)))
    return tuple(found)


def _table(data: Mapping[str, Any], name: str) -> Iterator[tuple[str, object]]:
    table = data.get(name)
    if isinstance(table, dict):
        yield from table.items()


def _name_module(given: object) -> str:
    """`"group:name:version"`, or a table with a module, or with a group and a name."""
    if isinstance(given, str):
        return ":".join(given.split(":")[:2])
    if not isinstance(given, dict):
        return ""
    if "module" in given:
        return str(given["module"])
    return ":".join(str(given[key]) for key in ("group", "name") if key in given)


def _dotted(alias: str) -> str:
    return alias.replace("-", ".").replace("_", ".")
