"""VS Code: set up by a file of servers; its requests go through its maker's own service, so that it is not wrapped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from laconic.clients.client import Client
from laconic.clients.setup import ClientFolders, ClientSetup, read_words, typed_entry


def _folder(places: ClientFolders) -> Path:
    if sys.platform == "darwin":
        return places.home / "Library" / "Application Support" / "Code" / "User"
    base = places.environ.get("APPDATA") or places.environ.get("XDG_CONFIG_HOME") or places.home / ".config"
    return Path(base) / "Code" / "User"


CLIENT: Final = Client(
    name="vscode",
    title="VS Code",
    setup=ClientSetup(
        name="vscode",
        title="VS Code",
        table=("servers",),
        project=lambda places: places.root / ".vscode" / "mcp.json",
        user=lambda places: _folder(places) / "mcp.json",
        entry=typed_entry,
        command=read_words,
        notes="AGENTS.md",
        programs=("code",),
        folder=_folder,
        arguments=("--root", "${workspaceFolder}"),
        after="VS Code asks once whether to trust the server.",
        own_folders=lambda places: (_folder(places),),
    ),
    project_names=(".vscode",),
)
