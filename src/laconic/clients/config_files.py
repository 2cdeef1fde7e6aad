"""Read the configuration files of clients. A file that is not there is empty; one that cannot be read is an error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from laconic.clients import jsonc
from laconic.errors import Unroutable, UsageError

Table = dict[str, Any]
_DOTENV: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*")
_YAML: Final = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*?))?\s*")


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark."""
    try:
        return path.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Unroutable(f"{path} cannot be read: {error}.", "Fix the file.") from None


def parse_json(text: str, source: str) -> Table:
    """JSON, with or without comments."""
    try:
        held = jsonc.parse(text)
    except UsageError:
        raise Unroutable(f"{source} is not JSON.", "Fix it.") from None
    if isinstance(held, dict):
        return held
    return {}


def read_json(path: Path) -> Table:
    return parse_json(read_text(path), str(path))


def read_toml(path: Path) -> Table:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise Unroutable(f"{path} is not TOML: {error}.", "Fix the file.") from None


def read_dotenv(path: Path) -> dict[str, str]:
    """Variables of a `.env` file."""
    found: dict[str, str] = {}
    for line in read_text(path).splitlines():
        if match := _DOTENV.fullmatch(line):
            found[match[1]] = _unquote(match[2])
    return found


def read_flat_yaml(path: Path) -> dict[str, str | list[str]]:
    """Scalars and lists of scalars at the top of a YAML file; anything deeper is not read."""
    found: dict[str, str | list[str]] = {}
    last = ""
    for line in read_text(path).splitlines():
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if bare.startswith("- ") and last:
            held = found[last]
            found[last] = [*(held if isinstance(held, list) else []), _unquote(bare[2:].strip())]
        elif match := _YAML.fullmatch(line):
            last, value = match[1], match[2] or ""
            if value.startswith("[") and value.endswith("]"):
                inner = value[1:-1]
            else:
                inner = None
            found[last] = _unquote(value) if inner is None else [_unquote(item.strip()) for item in inner.split(",")]
    return found


def _unquote(value: str) -> str:
    if value[:1] in {'"', "'"} and (end := value.find(value[0], 1)) > 0:
        return value[1:end]
    return value.split(" #", 1)[0].rstrip()


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Table:
    """Tables are merged, anything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        held = merged.get(key)
        merged[key] = merge(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return merged


def at(table: Mapping[str, Any], *path: str) -> Any:
    """What a path of keys leads to, or None."""
    held: Any = table
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def table_at(table: Mapping[str, Any], *path: str) -> Table:
    held = at(table, *path)
    if isinstance(held, dict):
        return held
    return {}


def text_at(table: Mapping[str, Any], *path: str) -> str:
    held = at(table, *path)
    if isinstance(held, str):
        return held.strip()
    return ""


def folders_up(start: Path) -> Iterator[Path]:
    """A folder and its parents, the nearest first."""
    yield from (start, *start.parents)


def project_root(start: Path) -> Path | None:
    """The nearest folder with a `.git`."""
    for folder in folders_up(start):
        if (folder / ".git").exists():
            return folder
    return None
