"""Write the configuration by which a client starts our MCP server, or take it out again.

Merges with what is there, keeps a copy of it, and changes nothing a second time. A short section for models goes into
the file that the client reads (AGENTS.md, CLAUDE.md, GEMINI.md). `laconic doctor` checks the result.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from laconic.clients import install
from laconic.clients.registry import all_setups, find_setup
from laconic.clients.setup import NAME, ClientSetup, Places, Scope, scope
from laconic.config import Settings, child_environment
from laconic.errors import UsageError
from laconic.render.visible import visible_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=[known.name for known in all_setups()], help="whom to set up")
    parser.add_argument("--print", action="store_true", help="print what would be written, and write nothing")
    parser.add_argument("--remove", action="store_true", help="take our entry and our section out")
    parser.add_argument("--project", action="store_true", help="for this folder (default, except for Codex)")
    parser.add_argument("--user", action="store_true", help="for all projects of this user")
    parser.add_argument("--edit", action="store_true", help="offer the edit tool too")
    parser.add_argument("--no-guidance", action="store_true", help="leave AGENTS.md and the like alone")
    parser.add_argument("--skill", action="store_true", help="write the guidance as a skill of Claude Code instead")
    parser.add_argument("--root", type=Path, default=Path(), help="the project (default: this folder)")


def run(args: argparse.Namespace, settings: Settings) -> int:
    known = find_setup(args.client)
    where = scope(known, project=args.project, user=args.user)
    places = Places(args.root.resolve(), child_environment())
    words = [*program(where), "mcp", *known.arguments, *(["--edit"] if args.edit else [])]
    edits = [install.server_edit(known, places, where, words)]
    notes = None if args.no_guidance or args.skill else known.notes_file(places, where)
    if args.skill:
        edits.append(_skill_edit(known, places, where))
    if notes is not None and (args.remove or not install.is_mentioned(notes)):
        edits.append(install.notes_edit(notes, _guidance(), known.folders(places, where)))
    if args.print:
        for edit in edits:
            print(f"# {visible_name(str(edit.path))}\n{edit.put('')}")
        return 0
    for edit in edits:
        install.place(edit)  # all of them, before the first is written
    backups = settings.cache_dir() / "backups"
    if args.remove:
        _remove(known, places, where, edits, backups)
        return 0
    for edit in edits:
        done = install.apply(edit, backups)
        print(visible_name(f"{done.what}: {done.path}" + (f" (it was {done.backup})" if done.backup else "")))
    if known.after and where == "project":
        print(known.after)
    return 0


def _remove(
    known: ClientSetup, places: Places, where: Scope, edits: list[install.ConfigChange], backups: Path
) -> None:
    for edit in edits:
        if edit is not edits[0] and install.is_needed_elsewhere(known, places, where):
            print(visible_name(f"kept: the section in {edit.path}, which another client reads too"))
            continue
        done = install.undo(edit, backups)
        print(visible_name(f"{done.what}: {done.path}"))


def program(where: Scope) -> list[str]:
    """How to start us: by name in files that a team shares, by place in the user's own, which need no PATH.

    A name that is only found because an environment is active says nothing to a client that starts outside of it.
    """
    found = shutil.which(NAME)
    active = sys.prefix != sys.base_prefix and found and Path(found).parent == Path(sys.executable).parent
    if where == "project" and found and not active:
        return [NAME]
    beside = Path(sys.executable).with_name(NAME + (".exe" if sys.platform == "win32" else ""))
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", NAME]


def _skill_edit(known: ClientSetup, places: Places, where: Scope) -> install.ConfigChange:
    """The guidance as a file of its own, which the client loads when the work is about code."""
    from laconic.mcp_server.guide import skill  # imports all tools

    notes = known.notes_file(places, where)
    if known.name != "claude" or notes is None:
        raise UsageError(f"{known.name} reads no skills.", "Leave --skill out: the guidance goes into its notes.")
    folder = places.root / ".claude" if where == "project" else notes.parent
    path = folder / "skills" / "laconic" / "SKILL.md"
    return install.ConfigChange(path, lambda text: skill(), lambda text: "", known.folders(places, where))


def _guidance() -> str:
    from laconic.mcp_server.guide import guidance  # imports all tools

    return guidance()
