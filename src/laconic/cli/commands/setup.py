"""Set up a client to start Laconic's MCP server, or undo that.

Without a client's name, it finds the clients on this machine and asks about each. It merges with the client's
configuration and keeps a copy of it; a second run changes nothing. A short section for models goes into the file that
the client reads (AGENTS.md, CLAUDE.md, GEMINI.md). `laconic doctor` checks the result.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from laconic.clients import install
from laconic.clients.around_setup import around_edit, moved_servers
from laconic.clients.claude import SETUP
from laconic.clients.claude_hook import shell_hook_edit, start_hook_edit
from laconic.clients.claude_plugin import plugin_edits, plugin_folder, remove_empty_folders, skill_edit
from laconic.clients.installed_clients import installed_clients
from laconic.clients.registry import all_setups, find_setup
from laconic.clients.setup import NAME, ClientFolders, ClientSetup, Scope, scope
from laconic.config import Settings, child_environment
from laconic.errors import UsageError
from laconic.render.escape_control import visible_name
from laconic.render.plural import count_of

_INSTALL = "To have it on the path everywhere, run `uv tool install .` or `pipx install .` in a clone of Laconic."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = []
    for known in all_setups():
        names.append(known.name)
    parser.add_argument(
        "client", nargs="?", choices=names, help="the client to set up (default: ask about each that is installed)"
    )
    parser.add_argument("--print", action="store_true", help="print what would be written, and write nothing")
    parser.add_argument("--remove", action="store_true", help="remove Laconic's entry and section")
    parser.add_argument("--project", action="store_true", help="for this folder (default, except for Codex)")
    parser.add_argument("--user", action="store_true", help="for all of your projects")
    parser.add_argument(
        "--plugin", action="store_true", help="Claude Code: Laconic's tools, a skill and /laconic:cost"
    )
    parser.add_argument(
        "--around", action="store_true", help="move the client's other servers behind `laconic mcp --around`"
    )
    parser.add_argument("--hook", action="store_true", help="Claude Code: shorten what its shell prints")
    parser.add_argument("--edit", action="store_true", help="also offer the edit tool")
    parser.add_argument("--command", metavar="WORDS", help="command that starts Laconic: 'uvx --from URL laconic'")
    parser.add_argument("--no-guidance", action="store_true", help="do not write to AGENTS.md and the like")
    parser.add_argument("--skill", action="store_true", help="Claude Code: write the guidance as a skill instead")
    parser.add_argument("--yes", action="store_true", help="without a client's name: set up all without asking")
    parser.add_argument("--root", type=Path, default=Path(), help="the project (default: this folder)")


def run(args: argparse.Namespace, settings: Settings) -> int:
    places = ClientFolders(args.root.resolve(), child_environment())
    if args.plugin and args.client not in {"claude", None}:
        raise UsageError("--plugin is for Claude Code.", "Write `laconic setup claude --plugin`.")
    if args.client or args.plugin:
        _set_up(find_setup(args.client or "claude"), places, args, settings)
        return 0
    found = installed_clients(places)
    if not found:
        raise UsageError("No client was found on this machine.", "Name one: `laconic setup claude`.")
    may_ask = not args.yes and not args.print
    if may_ask and not sys.stdin.isatty():
        names = ", ".join(known.name for known in found)
        raise UsageError(f"Found {names}, but cannot ask without a terminal.", "Name a client, or use --yes for all.")
    for known in found:
        if not may_ask or _ask(known, places, args):
            _set_up(known, places, args, settings)
    return 0


def _ask(known: ClientSetup, places: ClientFolders, args: argparse.Namespace) -> bool:
    file = known.file(places, scope(known, project=args.project, user=args.user))
    try:
        answer = input(f"{known.title} is installed. Change {visible_name(str(file))}? [Y/n] ")
    except EOFError:
        print()
        return False
    return answer.strip().lower() in {"", "y", "yes"}


def _set_up(known: ClientSetup, places: ClientFolders, args: argparse.Namespace, settings: Settings) -> None:
    where = scope(known, project=args.project, user=args.user)
    if args.around:
        _move_servers(known, places, where, args, settings)
    elif args.hook:
        _write_hook(known, places, where, args, settings)
    else:
        _write_entry(known, places, where, args, settings)


def _write_entry(
    known: ClientSetup, places: ClientFolders, where: Scope, args: argparse.Namespace, settings: Settings
) -> None:
    if args.plugin and not args.project:
        where = "user"
    if args.command:
        program = shlex.split(args.command)
    else:
        program = program_words(where)
    words = [*program, "mcp", *known.arguments, *(["--edit"] if args.edit else [])]
    edits = _edits(known, places, where, words, args)
    if args.print:
        for edit in edits:
            print(f"# {visible_name(str(edit.path))}\n{edit.put('')}")
        return
    for edit in edits:
        install.check(edit)  # all of them, before the first is written
    backups = settings.cache_dir() / "backups"
    if args.remove:
        _remove(known, places, where, edits, backups)
        if known.name == SETUP.name:
            remove_empty_folders(plugin_folder(places, where))
        _remove_emptied([edit.path.parent for edit in edits], places.root)
        return
    _apply(edits, backups)
    if args.skill:
        _remove_section(known, places, where, backups)
    if known.after and where == "project":
        print(known.after)
    if note := _missing_program(program):
        print(note, file=sys.stderr)


def _apply(edits: Sequence[install.ConfigChange], backups: Path) -> None:
    for edit in edits:
        done = install.apply(edit, backups)
        copy = ""
        if done.backup:
            copy = f" (a copy of the old file: {done.backup})"
        print(visible_name(f"{done.what}: {done.path}{copy}"))


def _move_servers(
    known: ClientSetup, places: ClientFolders, where: Scope, args: argparse.Namespace, settings: Settings
) -> None:
    """Put the client's other servers behind us, or back."""
    moved = moved_servers(known, places, where, settings.state_dir())
    named = str(moved.path)
    if where == "project" and not known.arguments:
        named = moved.path.name  # the file is shared with a team, whose folders are others
    program = shlex.split(args.command) if args.command else program_words(where)
    words = [*program, "mcp", *known.arguments, "--around", named]
    edit = around_edit(known, places, where, words, moved)
    backups = settings.cache_dir() / "backups" / "around"
    if args.print:
        print(f"# {visible_name(str(edit.path))}\n{edit.put('')}")
        return
    install.place(edit)
    if args.remove:
        was_moved = moved.path.is_file()
        done = install.undo(edit, backups)
        moved.remove()
        said = f"no server of {done.path} is behind Laconic"
        if was_moved:
            said = f"put {count_of(len(moved.servers), 'server')} back into {done.path}"
        print(visible_name(said))
        return
    moved.write()
    done = install.apply(edit, backups)
    print(visible_name(f"{done.what}: {done.path}; behind Laconic: {', '.join(moved.servers)} ({moved.path})"))


def _write_hook(
    known: ClientSetup, places: ClientFolders, where: Scope, args: argparse.Namespace, settings: Settings
) -> None:
    if known.name != SETUP.name:
        raise UsageError(f"{known.title} has no such hook.", "Write `laconic setup claude --hook`.")
    program = shlex.split(args.command) if args.command else program_words(where)
    edit = shell_hook_edit(places, where, shlex.join(program))
    backups = settings.cache_dir() / "backups" / "hook"
    if args.print:
        print(f"# {visible_name(str(edit.path))}\n{edit.put('')}")
        return
    install.place(edit)
    done = install.undo(edit, backups) if args.remove else install.apply(edit, backups)
    print(visible_name(f"{done.what}: {done.path}"))


def _edits(
    known: ClientSetup, places: ClientFolders, where: Scope, words: list[str], args: argparse.Namespace
) -> list[install.ConfigChange]:
    if args.plugin:
        return plugin_edits(places, where, words)
    edits = [install.server_edit(known, places, where, words)]
    is_claude = known.name == SETUP.name
    if is_claude:
        edits.append(start_hook_edit(places, where, shlex.join(words[: words.index("mcp")])))
    if args.skill:
        if not is_claude:
            raise UsageError(
                f"{known.name} reads no skills.",
                "Leave out --skill: the guidance then goes into AGENTS.md or the like.",
            )
        return [*edits, skill_edit(places, where)]
    if args.remove and is_claude and (skill := skill_edit(places, where)).path.is_file():
        edits.append(skill)  # whoever removes us wants nothing of ours to stay
    if args.no_guidance:
        return edits
    section = _find_section(known, places, where)
    if section is not None and (args.remove or not _has_guidance(known, places, where, section)):
        edits.append(section)
    return edits


def _find_section(known: ClientSetup, places: ClientFolders, where: Scope) -> install.ConfigChange | None:
    """Our section in the file that the client reads; None where it reads none."""
    notes = known.notes_file(places, where)
    if notes is None:
        return None
    return install.notes_edit(notes, _guidance(), known.folders(places, where))


def _remove_section(known: ClientSetup, places: ClientFolders, where: Scope, backups: Path) -> None:
    """Take our section out where a skill says the same: guidance that is there twice costs tokens twice."""
    section = _find_section(known, places, where)
    if section is not None and section.path.is_file():
        _remove(known, places, where, [section], backups)


def _has_guidance(known: ClientSetup, places: ClientFolders, where: Scope, section: install.ConfigChange) -> bool:
    """Whether the client has our guidance elsewhere: in a file that its own takes in, or as a skill."""
    if known.name == SETUP.name and skill_edit(places, where).path.is_file():
        return True
    return install.is_mentioned(section.path)


def _remove(
    known: ClientSetup, places: ClientFolders, where: Scope, edits: Sequence[install.ConfigChange], backups: Path
) -> None:
    for edit in edits:
        is_notes = edit.path == known.notes_file(places, where)
        if is_notes and install.is_needed_elsewhere(known, places, where):
            print(visible_name(f"kept Laconic's section in {edit.path}: another client reads it too"))
            continue
        done = install.undo(edit, backups)
        if done.what == "deleted":
            print(visible_name(f"deleted {done.path}: it contained nothing else"))
        elif done.what == "removed":
            part = "section" if is_notes else "entry"
            print(visible_name(f"removed Laconic's {part} from {done.path}"))
        else:
            print(visible_name(f"nothing from Laconic in {done.path}"))


def _remove_emptied(folders: Sequence[Path], root: Path) -> None:
    """Folders of the workspace in which only our files were; those of the user's home belong to the client."""
    for folder in folders:
        if root in folder.parents:
            with suppress(OSError):
                folder.rmdir()  # only when it is empty


def program_words(where: Scope) -> list[str]:
    """How to start us: by name in files that a team shares, by place in the user's own, which need no PATH."""
    if where == "project":
        return [NAME]
    name = f"{NAME}.exe" if sys.platform == "win32" else NAME
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return [str(beside)]
    return [sys.executable, "-P", "-m", NAME]


def _missing_program(program: Sequence[str]) -> str:
    """What to say when others, or clients that start outside of this shell, will not find the program."""
    found = shutil.which(program[0])
    if found is None:
        return f"note: {program[0]} is not on your path, so no client can start it. {_INSTALL}"
    active = child_environment().get("VIRTUAL_ENV")
    if active and Path(found).is_relative_to(active) and not Path(program[0]).is_absolute():
        return f"note: {program[0]} is only found while the environment {active} is active. {_INSTALL}"
    return ""


def _guidance() -> str:
    from laconic.mcp_server.tool_help import write_project_notes  # imports all tools

    return write_project_notes()
