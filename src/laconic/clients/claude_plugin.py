"""Our plugin for Claude Code, a folder below `skills`, which it loads without a marketplace; and our skill alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from laconic import __version__
from laconic.clients.claude import SETUP, notes_folder
from laconic.clients.install import ConfigChange, read
from laconic.clients.setup import NAME, ClientFolders, Scope
from laconic.clients.tools_wait import start_hook

_TEXTS: Final = Path(__file__).with_name("plugin")
_ABOUT: Final = "description: "
_MANIFEST: Final = Path(".claude-plugin") / "plugin.json"


def plugin_folder(places: ClientFolders, scope: Scope) -> Path:
    """Where Claude Code looks for it."""
    if scope == "project":
        return places.root / ".claude" / "skills" / NAME
    return notes_folder(places) / "skills" / NAME


def plugin_edits(places: ClientFolders, scope: Scope, words: Sequence[str]) -> list[ConfigChange]:
    """The files of the plugin: the manifest with our server, our hook, the skill, and the command for costs."""
    folder, within = plugin_folder(places, scope), SETUP.folders(places, scope)
    server = {"command": words[0], "args": list(words[1:]), "alwaysLoad": True}
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": "Answers about code in few tokens, and what a session costs",
        "author": {"name": "The Laconic authors"},
        "mcpServers": {NAME: server},
    }
    program = shlex.join(words[: list(words).index("mcp")])
    hooks = {"hooks": {"SessionStart": [start_hook(program)]}}
    texts = {
        _MANIFEST: json.dumps(manifest, indent=2) + "\n",
        Path("hooks") / "hooks.json": json.dumps(hooks, indent=2) + "\n",
        Path("skills") / NAME / "SKILL.md": _skill_text(),
        Path("commands") / "cost.md": (_TEXTS / "cost.md").read_text("utf-8"),
    }
    found = []
    for name, text in texts.items():
        found.append(_whole_file(folder / name, text, within))
    return found


def skill_edit(places: ClientFolders, scope: Scope) -> ConfigChange:
    """The skill alone, for those who set the server up without the plugin."""
    return _whole_file(plugin_folder(places, scope) / "SKILL.md", _skill_text(), SETUP.folders(places, scope))


def _skill_text() -> str:
    return (_TEXTS / "SKILL.md").read_text("utf-8")


def _whole_file(path: Path, text: str, within: tuple[Path, ...]) -> ConfigChange:
    return ConfigChange(path, lambda _: text, lambda _: "", within)


def remove_empty_folders(folder: Path) -> None:
    """Folders of the plugin in which nothing is left; what the user put there stays."""
    inside = [path for path in folder.rglob("*") if path.is_dir()]
    for path in [*sorted(inside, reverse=True), folder, folder.parent]:
        with suppress(OSError):
            path.rmdir()  # only when it is empty


def plugin_command(places: ClientFolders, scope: Scope) -> list[str] | None:
    """The command by which the plugin starts our server, or None when it is not installed."""
    manifest = plugin_folder(places, scope) / _MANIFEST
    if not manifest.is_file():
        return None
    try:
        server: Any = json.loads(read(manifest))["mcpServers"][NAME]
        return [str(server["command"]), *map(str, server.get("args") or ())]
    except (ValueError, KeyError, TypeError):
        return []


def skill_lines() -> str:
    """What the list of skills in every prompt says of the plugin."""
    rows = []
    for file, name in (("cost.md", "cost"), ("SKILL.md", NAME)):
        text = (_TEXTS / file).read_text("utf-8")
        for line in text.splitlines():
            if line.startswith(_ABOUT):
                rows.append(f"- {NAME}:{name}: {line.removeprefix(_ABOUT)}")
    return "\n".join(rows)
