"""The clients that we know, by the name of their program: one file each in this package, with a `CLIENT`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from laconic import clients
from laconic.clients.any_program import Program
from laconic.clients.client import Client
from laconic.clients.setup import ClientSetup
from laconic.clients.wrapped_client import WrappedClient
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


def _gather(read: Callable[[Client], tuple[str, ...]]) -> tuple[str, ...]:
    found: list[str] = []
    for client in all_clients().values():
        found.extend(read(client))
    return tuple(found)


@cache
def session_headers() -> tuple[str, ...]:
    """In which requests name their session, of all clients."""
    return _gather(lambda client: client.session_headers)


@cache
def task_tools() -> tuple[str, ...]:
    """By which models keep their tasks, of all clients."""
    return _gather(lambda client: client.task_tools)


@cache
def project_names() -> tuple[str, ...]:
    """Files and folders in a project that clients obey."""
    return _gather(lambda client: client.project_names)


@cache
def home_names() -> tuple[str, ...]:
    """Files and folders in the home folder with logins and sessions of clients."""
    return _gather(lambda client: client.home_names)


@cache
def shell_tools() -> tuple[str, ...]:
    """By which models run commands, of all clients."""
    return _gather(lambda client: client.shell_tools)


def searches_tools(name: str, environ: Mapping[str, str]) -> bool:
    """Whether the client that introduces itself so loads tools only when they are needed."""
    for client in all_clients().values():
        if name in client.mcp_names and client.searches_tools is not None:
            return client.searches_tools(environ)
    return False


def compaction_limit(client: str, model: str, window: int, betas: str = "") -> int:
    """Tokens of a prompt at which a client compacts its history, by the name that it gives itself; 0: not known."""
    known = find_by_name(client)
    if known is None or known.compacts_at is None or window <= 0:
        return 0
    return known.compacts_at(model, window, betas)


def find_by_name(client: str) -> Client | None:
    """By the name that a client gives itself in requests, or by its title."""
    name = client.lower()
    for known in all_clients().values():
        if (known.user_agent and name.startswith(known.user_agent)) or name == known.title.lower():
            return known
    return None


def client_name(user_agent: str) -> str:
    """A short name for the program that calls itself so: ours for a client that we know, else its first word."""
    known = find_by_name(user_agent)
    if known is not None:
        return known.name
    return _first_word(user_agent)


def client_title(user_agent: str) -> str:
    """The same as people know it: "Claude Code" for `claude-cli/2.1 (external, cli)`."""
    known = find_by_name(user_agent)
    if known is not None:
        return known.title
    return _first_word(user_agent)


def _first_word(user_agent: str) -> str:
    return user_agent.partition("/")[0].partition(" ")[0][:50]
