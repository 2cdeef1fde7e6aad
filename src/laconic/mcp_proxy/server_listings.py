"""What servers listed when they last ran, and which tools a project uses: two kinds of small files in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.workspace.atomic_write import write_whole

_LARGEST: Final = 8_000_000  # bytes of a list that is kept
_FOLDER: Final = "around"
_OLD: Final = 400  # calls after which older ones count half


class Listing(msgspec.Struct, frozen=True):
    """What one server said about itself."""

    greeting: dict[str, Any]
    tools: list[dict[str, Any]]


class Catalogue:
    """Reads and writes the files; one that cannot be read or written is as good as none."""

    def __init__(self, cache: Path, project: Path) -> None:
        self._folder = cache / _FOLDER
        key = blake2b(str(project).encode("utf-8", "replace"), digest_size=8).hexdigest()
        self._usage = self._folder / f"used-{key}.json"

    def read_listing(self, definition: ServerDefinition) -> Listing | None:
        with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            return msgspec.json.decode(self._file(definition).read_bytes(), type=Listing)
        return None

    def write_listing(self, definition: ServerDefinition, listing: Listing) -> None:
        data = msgspec.json.encode(listing)
        if len(data) <= _LARGEST:
            self._write(self._file(definition), data)

    def read_usage(self) -> dict[str, int]:
        """How often this project used tools, by `server/tool`."""
        with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            return msgspec.json.decode(self._usage.read_bytes(), type=dict[str, int])
        return {}

    def add_usage(self, calls: Mapping[str, int]) -> None:
        """Add the calls of a session."""
        if not calls:
            return
        usage = self.read_usage()
        for name, count in calls.items():
            usage[name] = usage.get(name, 0) + count
        if sum(usage.values()) > _OLD:
            usage = {name: count // 2 for name, count in usage.items() if count > 1}
        self._write(self._usage, msgspec.json.encode(usage))

    def _file(self, definition: ServerDefinition) -> Path:
        return self._folder / f"{definition.fingerprint}.json"

    def _write(self, path: Path, data: bytes) -> None:
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, data)
