"""The clients that we know, by the name of their program: one file each in this package, with a `CLIENT`."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from laconic import clients
from laconic.clients.any_program import Program
from laconic.clients.client import Client
from laconic.clients.launch import WrappedClient
from laconic.clients.setup import ClientSetup
from laconic.errors import UnknownName


@cache
def all_clients() -> dict[str, Client]:
    """By name."""
    found: dict[str, Client] = {}
    for module in pkgutil.iter_modules(clients.__path__):
        if module.name == __name__.rpartition(".")[2]:
            continue
        client = getattr(import_module(f"{clients.__name__}.{module.name}"), "CLIENT", None)
        if client is not None:
            found[client.name] = client
    return found


def all_setups() -> tuple[ClientSetup, ...]:
    """The clients that we can set up."""
    found = []
    for client in all_clients().values():
        if client.setup is not None:
            found.append(client.setup)
    return tuple(found)


def find_setup(name: str) -> ClientSetup:
    """How the client of this name is set up."""
    known = {}
    for setup in all_setups():
        known[setup.name] = setup
    if name not in known:
        raise UnknownName("client", name, tuple(known))
    return known[name]


def find_client(name: str) -> WrappedClient:
    """How the client of this name is wrapped; an empty name is any program."""
    if not name:
        return Program()
    known = {}
    for client in all_clients().values():
        if client.launcher is not None:
            known[client.name] = client.launcher
    if name not in known:
        raise UnknownName("client", name, tuple(known), f"For any other program: `laconic wrap -- {name} ...`.")
    return known[name]


@cache
def session_headers() -> tuple[str, ...]:
    """In which requests name their session, of all clients."""
    return tuple(name for client in all_clients().values() for name in client.session_headers)


@cache
def task_tools() -> tuple[str, ...]:
    """By which models keep their tasks, of all clients."""
    return tuple(name for client in all_clients().values() for name in client.task_tools)


@cache
def project_names() -> tuple[str, ...]:
    """Files and folders in a project that clients obey."""
    return tuple(name for client in all_clients().values() for name in client.project_names)


@cache
def home_names() -> tuple[str, ...]:
    """Files and folders in the home folder with logins and sessions of clients."""
    return tuple(name for client in all_clients().values() for name in client.home_names)


@cache
def shell_tools() -> tuple[str, ...]:
    """By which models run commands, of all clients."""
    return tuple(name for client in all_clients().values() for name in client.shell_tools)


def searches_tools(name: str, environ: Mapping[str, str]) -> bool:
    """Whether the client that introduces itself so loads tools only when they are needed."""
    for client in all_clients().values():
        if name in client.mcp_names and client.searches_tools is not None:
            return client.searches_tools(environ)
    return False


def compaction_limit(client: str, window: int) -> int:
    """Tokens of a prompt at which a client compacts its history, by the name that it gives itself; 0: not known."""
    name = client.lower()
    for known in all_clients().values():
        if known.user_agent and known.compacts_at and window > 0 and name.startswith(known.user_agent):
            return known.compacts_at(window)
    return 0
