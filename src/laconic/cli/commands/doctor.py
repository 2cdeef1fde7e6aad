"""Say what is wrong, or missing, and what to do about it.

Looks at the settings, the cache folder and the files in it, git, the parser and the index of a workspace, and starts
our server as each client that was set up would start it; changes nothing. A command in a project's file that
`laconic setup` would not write is named and not started.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from laconic.clients.setup import NAME
from laconic.config import Settings, child_environment
from laconic.errors import LaconicError
from laconic.render.visible import visible
from laconic.workspace.secrets import SecretFiles

if TYPE_CHECKING:
    from laconic.clients.setup import ClientSetup, Places, Scope
    from laconic.index.health import HealthFinding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.index.health import examine  # loads SQLite and a grammar

    found = examine(args.path, settings.cache_dir(), SecretFiles.of(settings))
    findings = [*found, *_files(settings), *_clients(args.path.resolve())]
    if args.json:
        print(msgspec.json.encode(findings).decode())
    else:
        for finding in findings:
            mark = "ok  " if finding.well else "WARN"
            said = f"{finding.what}: {finding.seen}" + (f" {finding.advice}" if finding.advice else "")
            print(mark, visible(said))
    return 0 if all(finding.well for finding in findings) else 1


def _files(settings: Settings) -> Iterator[HealthFinding]:
    """What is kept about conversations: whether it can be used, and what was damaged."""
    from laconic.index.health import HealthFinding  # loads SQLite and a grammar
    from laconic.sessions import archive, ledger_file, tool_call_log, turns
    from laconic.sessions.file_health import examine_file

    cache = settings.cache_dir()
    paths = [cache / name for name in (archive.FILE, ledger_file.FILE, turns.FILE, tool_call_log.FILE)]
    for path in (*paths, settings.state_dir() / "models.json"):
        for seen in examine_file(path):
            yield HealthFinding(path.name, seen.well, seen.text, seen.advice)


def _clients(root: Path) -> Iterator[HealthFinding]:
    """Every client that was set up for this folder or this user, from its own side."""
    from laconic.clients.registry import all_setups
    from laconic.clients.setup import Places
    from laconic.index.health import HealthFinding  # loads SQLite and a grammar

    places = Places(root, child_environment())
    scopes: tuple[Scope, ...] = ("project", "user")
    found = [finding for client in all_setups() for scope in scopes for finding in _client(client, places, scope)]
    yield from found or [HealthFinding("clients", True, "none is set up here", "See `laconic setup --help`.")]


def _client(client: ClientSetup, places: Places, scope: Scope) -> Iterator[HealthFinding]:
    from laconic.clients.install import configured_command
    from laconic.clients.probe import ask
    from laconic.index.health import HealthFinding  # loads SQLite and a grammar

    file = client.file(places, scope)
    try:
        command = configured_command(client, places, scope)
    except LaconicError as error:
        yield HealthFinding(client.title, False, f"{file}: {error.problem}", error.fix)
        return
    if command is None:
        return
    if scope == "project" and not _starts_us(command):
        seen = f"{file} starts {' '.join(command)!r}, which is not how `laconic setup` starts us: it was not tried."
        yield HealthFinding(client.title, False, seen, f"Run `laconic setup {client.name} --{scope}` again.")
        return
    answered = ask(command, places.root)
    if answered.problem or not answered.tools:
        problem = answered.problem or "the server has no tools"
        advice = f"Run `laconic setup {client.name} --{scope}` again."
        yield HealthFinding(client.title, False, f"{file}: {problem}.", advice)
    else:
        seen = f"{file}: answers in {answered.seconds:.1f} s with {len(answered.tools)} tools"
        yield HealthFinding(client.title, True, seen)


def _starts_us(command: Sequence[str]) -> bool:
    """Whether a command is one that `laconic setup` writes: a file of the project may name any other."""
    from laconic.cli.commands.setup import program  # other commands never get here

    ways = ([NAME], program("project"), program("user"))
    return any([*command[: len(way) + 1]] == [*way, "mcp"] for way in ways)
