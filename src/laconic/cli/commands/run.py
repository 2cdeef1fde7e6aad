"""Run a command and shorten its output; `laconic recall` returns all of it.

The exit code is the command's own: 127 if the command does not exist, 128 plus the signal number if a signal ended it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from laconic.cli.commands.reduce import add_budget, budget_of
from laconic.config import Settings, child_environment
from laconic.errors import ArchiveUnavailable, UsageError
from laconic.reduce.text import reduce_text
from laconic.sessions.archive import Archive
from laconic.tokens.count import counter
from laconic.workspace.git import home


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_budget(parser)
    parser.add_argument("--session", help="label under which to keep the output (default: the workspace)")
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.argv[:1] == ["--"]:
        argv = args.argv[1:]
    else:
        argv = args.argv
    if not argv:
        raise UsageError("No command was given.", "Write `laconic run -- COMMAND ARGUMENT...`.")
    code, output = _run(argv)
    text = output.decode("utf-8", "replace")
    budget = budget_of(args, settings)
    more = ""
    if output:
        more = _keep(output, " ".join(argv), args.session or str(home(Path())), settings)
    view = reduce_text(text, cost=counter(settings.text("model")), budget=budget, more=more)
    print(view.text, end="" if view.text.endswith("\n") or not view.text else "\n")
    if code:
        print(f"[exit code {code}]")
    return code


def _run(argv: list[str]) -> tuple[int, bytes]:
    """Exit code as a shell would tell it, and what was printed on both channels in order."""
    try:
        done = subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=None, env=child_environment(), check=False
        )
    except FileNotFoundError:
        return 127, f"{argv[0]}: not found\n".encode()
    except (PermissionError, OSError) as error:
        return 126, f"{argv[0]}: {error.strerror}\n".encode()
    return (done.returncode if done.returncode >= 0 else 128 - done.returncode), done.stdout


def _keep(output: bytes, note: str, session: str, settings: Settings) -> str:
    """Archive the output; without an archive the view is still printed, and says why there is no more."""
    try:
        ref = Archive.of(settings).put(session, "run", output, note)
    except ArchiveUnavailable as error:
        print(f"laconic: {error}", file=sys.stderr)
        return "the whole was not kept"
    return f"whole: laconic recall {ref}"
