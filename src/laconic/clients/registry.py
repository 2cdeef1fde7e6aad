"""The clients that `wrap` knows, by the name of their program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from laconic.clients.aider import Aider
from laconic.clients.claude import Claude
from laconic.clients.codex import Codex
from laconic.clients.gemini import Gemini
from laconic.clients.opencode import Opencode
from laconic.clients.program import Program
from laconic.clients.upstream import WrappedClient
from laconic.errors import UnknownName

CLIENTS: Final[Mapping[str, WrappedClient]] = {
    "aider": Aider(),
    "claude": Claude(),
    "codex": Codex(),
    "gemini": Gemini(),
    "opencode": Opencode(),
}


def find_client(name: str) -> WrappedClient:
    """The client of this name; an empty name is any program."""
    if not name:
        return Program()
    if name not in CLIENTS:
        raise UnknownName("client", name, tuple(CLIENTS), f"For any other program: `laconic wrap -- {name} ...`.")
    return CLIENTS[name]
