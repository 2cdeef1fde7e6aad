"""Cursor: set up by a file of servers; its requests go through its maker's own service, so that it is not wrapped."""

from __future__ import annotations

from typing import Final

from laconic.clients.client import Client
from laconic.clients.setup import ClientSetup, plain_entry, read_words

CLIENT: Final = Client(
    name="cursor",
    title="Cursor",
    setup=ClientSetup(
        name="cursor",
        title="Cursor",
        table=("mcpServers",),
        project=lambda places: places.root / ".cursor" / "mcp.json",
        user=lambda places: places.home / ".cursor" / "mcp.json",
        entry=plain_entry,
        command=read_words,
        notes="AGENTS.md",
        programs=("cursor", "cursor-agent"),
        folder=lambda places: places.home / ".cursor",
        arguments=("--root", "${workspaceFolder}"),
        after="Cursor shows the server in its settings, where it is switched on.",
    ),
    project_names=(".cursor",),
)
