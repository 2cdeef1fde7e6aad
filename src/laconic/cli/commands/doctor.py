"""Report what is wrong or missing, and how to fix it.

Checks the settings, the cache folder and its files, git, the parser and the index of a workspace, and starts the server
as each configured client would start it. Changes nothing. It names, but does not start, a command in a project's file
that `laconic setup` would not have written. `laconic doctor claude` says how many tokens Laconic's tools add to each
prompt of Claude Code.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from laconic.cli.terminal import paint
from laconic.config import Settings
from laconic.errors import UsageError
from laconic.render.escape_control import visible
from laconic.workspace.secrets import SecretFiles

if TYPE_CHECKING:
    from laconic.index.health import HealthFinding

_MODEL: Final = "claude-sonnet-5"  # whose tokens are counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="CLIENT|PATH",
        help="a client, such as claude: check only that, and see what each prompt pays for Laconic; or the workspace",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.cli.client_checks import check_clients  # loads SQLite, a grammar and the clients
    from laconic.index.health import examine
    from laconic.tokens.count import counter

    names, root = _split(args.words)
    findings: list[HealthFinding] = []
    if names:
        findings += check_clients(root.resolve(), names, counter(_MODEL))
    else:
        findings += examine(root, settings.cache_dir(), SecretFiles.of(settings))
        findings += _files(settings)
        findings += check_clients(root.resolve(), ())
    if args.json:
        print(msgspec.json.encode(findings).decode())
    else:
        for finding in findings:
            _print(finding)
    if all(finding.well for finding in findings):
        return 0
    return 1


def _split(words: Sequence[str]) -> tuple[list[str], Path]:
    """The clients that were named, and the workspace; a folder that is called like a client is written `./claude`."""
    from laconic.clients.registry import all_setups  # not for `--help`

    known = set()
    for client in all_setups():
        known.add(client.name)
    names = []
    for word in words:
        if word in known:
            names.append(word)
    paths = []
    for word in words:
        if word not in known:
            paths.append(word)
    if len(paths) > 1:
        raise UsageError("One workspace at a time.", "Name one folder.")
    root = Path(*paths)
    if not root.is_dir():
        raise UsageError(f"{root} is neither a folder nor a client.", f"Clients: {', '.join(sorted(known))}.")
    return names, root


def _print(finding: HealthFinding) -> None:
    mark = paint("ok  ", "green")
    if not finding.well:
        mark = paint("WARN", "yellow")
    advice = f" {finding.advice}" if finding.advice else ""
    print(mark, visible(f"{finding.what}: {finding.seen}{advice}"))


def _files(settings: Settings) -> Iterator[HealthFinding]:
    """What is kept about conversations: whether it can be used, and what was damaged."""
    from laconic.index.health import HealthFinding  # loads SQLite and a grammar
    from laconic.sessions import archive, ledger_store, tool_call_log, turn_tables
    from laconic.sessions.file_health import examine_file

    cache = settings.cache_dir()
    paths = []
    for each in (archive.FILE, ledger_store.FILE, turn_tables.FILE, tool_call_log.FILE):
        paths.append(cache / each)
    for path in (*paths, settings.state_dir() / "models.json"):
        for seen in examine_file(path):
            yield HealthFinding(path.name, seen.well, seen.text, seen.advice)
