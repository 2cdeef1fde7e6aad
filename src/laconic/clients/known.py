"""The clients that we can set up: where each keeps its servers, in which form, and its guidance for models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from laconic.errors import UnknownName, UsageError

Scope = Literal["project", "user"]
NAME: Final = "laconic"  # of our server, in every client


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of this user and this project."""

    root: Path
    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())

    @property
    def claude(self) -> Path:
        """Claude Code's own file lies in its folder if that was moved, else in the home folder."""
        return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.home)

    @property
    def claude_notes(self) -> Path:
        return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.home / ".claude")

    @property
    def codex(self) -> Path:
        return Path(self.environ.get("CODEX_HOME") or self.home / ".codex")

    @property
    def opencode(self) -> Path:
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config") / "opencode"

    @property
    def vscode(self) -> Path:
        if sys.platform == "darwin":
            base = self.home / "Library" / "Application Support"
        else:
            base = Path(self.environ.get("APPDATA") or self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")
        return base / "Code" / "User"

    def folders(self, scope: Scope) -> tuple[Path, ...]:
        """Where files of a scope belong; a link must not lead elsewhere."""
        if scope == "project":
            return (self.root,)
        return (self.home, self.claude, self.claude_notes, self.codex, self.opencode, self.vscode)


@dataclass(frozen=True, slots=True)
class Client:
    """One client. Its file is JSON, with or without comments, or TOML; servers stand under `table` by name."""

    name: str
    title: str
    table: tuple[str, ...]
    project: Callable[[Places], Path]
    user: Callable[[Places], Path]
    entry: Callable[[list[str]], dict[str, object]]
    command: Callable[[Mapping[str, Any]], list[str]]
    notes: str  # the file in a project that its models read
    programs: tuple[str, ...]  # any of them on the path means that it is installed
    folder: Callable[[Places], Path]  # and so does this folder
    user_notes: Callable[[Places], Path] | None = None
    arguments: tuple[str, ...] = ()  # for a client that does not start servers in the project's folder
    scope: Scope = "project"  # when the user names none
    after: str = ""  # what is left for the user to do

    def file(self, places: Places, scope: Scope) -> Path:
        return self.project(places) if scope == "project" else self.user(places)

    def notes_file(self, places: Places, scope: Scope) -> Path | None:
        if scope == "project":
            return places.root / self.notes
        return self.user_notes(places) if self.user_notes else None


def _plain(words: list[str]) -> dict[str, object]:
    return {"command": words[0], "args": words[1:]}


def _typed_entry(words: list[str]) -> dict[str, object]:
    return {"type": "stdio", **_plain(words)}


def _claude_entry(words: list[str]) -> dict[str, object]:
    """Without `alwaysLoad` neither the first request nor a sub-agent has our tools: they have to be searched for."""
    return {**_typed_entry(words), "alwaysLoad": True}


def _local(words: list[str]) -> dict[str, object]:
    return {"type": "local", "command": words, "enabled": True}


def _words(entry: Mapping[str, Any]) -> list[str]:
    return [str(entry.get("command", "")), *map(str, entry.get("args") or [])]


def _opencode_file(folder: Path) -> Path:
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        "claude",
        "Claude Code",
        ("mcpServers",),
        project=lambda places: places.root / ".mcp.json",
        user=lambda places: places.claude / ".claude.json",
        entry=_claude_entry,
        command=_words,
        notes="CLAUDE.md",
        programs=("claude",),
        folder=lambda places: places.claude_notes,
        user_notes=lambda places: places.claude_notes / "CLAUDE.md",
        after="Claude Code asks once whether to use the project's servers.",
    ),
    Client(
        "codex",
        "Codex",
        ("mcp_servers",),
        project=lambda places: places.root / ".codex" / "config.toml",
        user=lambda places: places.codex / "config.toml",
        entry=_plain,
        command=_words,
        notes="AGENTS.md",
        programs=("codex",),
        folder=lambda places: places.codex,
        user_notes=lambda places: places.codex / "AGENTS.md",
        scope="user",
    ),
    Client(
        "cursor",
        "Cursor",
        ("mcpServers",),
        project=lambda places: places.root / ".cursor" / "mcp.json",
        user=lambda places: places.home / ".cursor" / "mcp.json",
        entry=_plain,
        command=_words,
        notes="AGENTS.md",
        programs=("cursor", "cursor-agent"),
        folder=lambda places: places.home / ".cursor",
        arguments=("--root", "${workspaceFolder}"),
        after="Cursor shows the server in its settings, where it is switched on.",
    ),
    Client(
        "vscode",
        "VS Code",
        ("servers",),
        project=lambda places: places.root / ".vscode" / "mcp.json",
        user=lambda places: places.vscode / "mcp.json",
        entry=_typed_entry,
        command=_words,
        notes="AGENTS.md",
        programs=("code",),
        folder=lambda places: places.vscode,
        arguments=("--root", "${workspaceFolder}"),
        after="VS Code asks once whether to trust the server.",
    ),
    Client(
        "opencode",
        "opencode",
        ("mcp",),
        project=lambda places: _opencode_file(places.root),
        user=lambda places: _opencode_file(places.opencode),
        entry=_local,
        command=lambda entry: [str(word) for word in entry.get("command") or []],
        notes="AGENTS.md",
        programs=("opencode",),
        folder=lambda places: places.opencode,
        user_notes=lambda places: places.opencode / "AGENTS.md",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ("mcpServers",),
        project=lambda places: places.root / ".gemini" / "settings.json",
        user=lambda places: places.home / ".gemini" / "settings.json",
        entry=_plain,
        command=_words,
        notes="GEMINI.md",
        programs=("gemini",),
        folder=lambda places: places.home / ".gemini",
        user_notes=lambda places: places.home / ".gemini" / "GEMINI.md",
    ),
)


def client(name: str) -> Client:
    """The client of this name."""
    for known in CLIENTS:
        if known.name == name:
            return known
    raise UnknownName("client", name, tuple(known.name for known in CLIENTS))


def scope(client: Client, *, project: bool, user: bool) -> Scope:
    """The scope that was asked for, or the client's own."""
    if project and user:
        raise UsageError("--project and --user exclude each other.", "Name one.")
    if project:
        return "project"
    if user:
        return "user"
    return client.scope
