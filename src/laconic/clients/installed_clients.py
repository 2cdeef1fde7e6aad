"""Which of the clients that we can set up are installed on this machine."""

from __future__ import annotations

import shutil

from laconic.clients.registry import all_setups
from laconic.clients.setup import ClientFolders, ClientSetup


def installed_clients(places: ClientFolders) -> list[ClientSetup]:
    """Clients whose program is on the path, or whose folder the user has."""
    found = []
    for client in all_setups():
        if _is_installed(client, places):
            found.append(client)
    return found


def _is_installed(client: ClientSetup, places: ClientFolders) -> bool:
    path = places.environ.get("PATH")
    if any(shutil.which(program, path=path) for program in client.programs):
        return True
    return client.folder(places).is_dir()
