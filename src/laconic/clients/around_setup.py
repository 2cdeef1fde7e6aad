"""Move a client's servers behind `laconic mcp --around`, and back again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from laconic.clients import jsonc, toml_tables
from laconic.clients.install import ConfigChange, other_servers, read
from laconic.clients.setup import AROUND, ClientFolders, ClientSetup, Scope
from laconic.errors import UsageError
from laconic.workspace.atomic_write import write_whole

_IN_PROJECT: Final = ".mcp.around.{}.json"  # one for each client: their entries differ, and each goes back alone
_ENTRIES: Final = "entries"  # as the client wrote them, for the way back


@dataclass(frozen=True, slots=True)
class MovedServers:
    """The file with the servers that stand behind us."""

    path: Path
    entries: Mapping[str, Mapping[str, Any]]  # as the client wrote them
    servers: Mapping[str, Mapping[str, Any]]  # as we read them

    def write(self) -> None:
        """For the owner alone: entries hold keys."""
        text = json.dumps({"mcpServers": self.servers, _ENTRIES: self.entries}, indent=2)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        write_whole(self.path, f"{text}\n".encode())

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def list_project_files(root: Path) -> list[Path]:
    """Files in a project from which servers behind us are started."""
    return sorted(root.glob(_IN_PROJECT.format("*")))


def moved_servers(client: ClientSetup, places: ClientFolders, scope: Scope, state: Path) -> MovedServers:
    """Those that were moved before, and those that are in the client's file now."""
    path = state / "around" / f"{client.name}.json"
    if scope == "project":
        path = places.root / _IN_PROJECT.format(client.name)
    entries: dict[str, Any] = {}
    servers: dict[str, Any] = {}
    if path.is_file():
        held = jsonc.parse(read(path))
        entries |= held.get(_ENTRIES) or {}
        servers |= held.get("mcpServers") or {}
    servers |= other_servers(client, places, scope, normal=True)
    entries |= other_servers(client, places, scope)
    if not servers:
        raise UsageError(
            f"{client.title} has no other servers in {client.file(places, scope)}.", "Try --user or --project."
        )
    return MovedServers(path, entries, servers)


def around_edit(
    client: ClientSetup, places: ClientFolders, scope: Scope, words: list[str], moved: MovedServers
) -> ConfigChange:
    """Our entry in the place of the client's servers."""
    path, within = client.file(places, scope), client.folders(places, scope)
    make = client.around_entry or client.entry
    ours, table = make(words), client.table
    editor: Any = toml_tables if path.suffix == ".toml" else jsonc

    def put(text: str) -> str:
        text = editor.put(text, (*table, AROUND), ours)
        for name in moved.entries:
            text = editor.take(text, (*table, name))
        return str(text)

    def take(text: str) -> str:
        if AROUND not in (_table(editor.parse(text), table) or {}):
            return text
        for name, entry in moved.entries.items():
            text = editor.put(text, (*table, name), entry)
        return str(editor.take(text, (*table, AROUND)))

    return ConfigChange(path, put, take, within)


def _table(value: Any, at: tuple[str, ...]) -> Any:
    for key in at:
        value = value.get(key) if isinstance(value, dict) else None
    return value
