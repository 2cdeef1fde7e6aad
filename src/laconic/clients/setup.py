"""What `setup` has to know about a client: where it keeps its servers, in which form, and its guidance for models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from laconic.errors import UsageError

Scope = Literal["project", "user"]
NAME: Final = "laconic"  # of our server, in every client
AROUND: Final = "laconic-around"  # of our server in front of the client's others


@dataclass(frozen=True, slots=True)
class ClientFolders:
    """The folders of this user and this project."""

    root: Path
    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """How one client is set up. Its file is JSON, with or without comments, or TOML; servers are under `table`."""

    name: str
    title: str
    table: tuple[str, ...]
    project: Callable[[ClientFolders], Path]
    user: Callable[[ClientFolders], Path]
    entry: Callable[[list[str]], dict[str, object]]
    command: Callable[[Mapping[str, Any]], list[str]]
    notes: str  # the file in a project that its models read
    programs: tuple[str, ...]  # any of them on the path means that it is installed
    folder: Callable[[ClientFolders], Path]  # and so does this folder
    user_notes: Callable[[ClientFolders], Path] | None = None
    own_folders: Callable[[ClientFolders], tuple[Path, ...]] | None = None  # of its files, beside the home folder
    arguments: tuple[str, ...] = ()  # for a client that does not start servers in the project's folder
    scope: Scope = "project"  # when the user names none
    around_entry: Callable[[list[str]], dict[str, object]] | None = None  # of our server in front of others
    url_transport: str = "http"  # of a server with a `url` and no `type`
    after: str = ""  # what is left for the user to do

    def file(self, places: ClientFolders, scope: Scope) -> Path:
        if scope == "project":
            return self.project(places)
        return self.user(places)

    def folders(self, places: ClientFolders, scope: Scope) -> tuple[Path, ...]:
        """Where its files of a scope belong; a link must not lead elsewhere."""
        if scope == "project":
            return (places.root,)
        own = self.own_folders(places) if self.own_folders else ()
        return (places.home, *own)

    def notes_file(self, places: ClientFolders, scope: Scope) -> Path | None:
        if scope == "project":
            return places.root / self.notes
        if self.user_notes:
            return self.user_notes(places)
        return None


def plain_entry(words: list[str]) -> dict[str, object]:
    """A server as most clients write it."""
    return {"command": words[0], "args": words[1:]}


def typed_entry(words: list[str]) -> dict[str, object]:
    """A server of the kind that is started and spoken to by standard input and output."""
    return {"type": "stdio", **plain_entry(words)}


def read_words(entry: Mapping[str, Any]) -> list[str]:
    """The command in such an entry."""
    return [str(entry.get("command", "")), *map(str, entry.get("args") or [])]


def scope(client: ClientSetup, *, project: bool, user: bool) -> Scope:
    """The scope that was asked for, or the client's own."""
    if project and user:
        raise UsageError("--project and --user cannot be used together.", "Name one.")
    if project:
        return "project"
    if user:
        return "user"
    return client.scope
