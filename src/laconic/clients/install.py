"""Write Laconic's entry and section into a client's files, keep what was there, and remove exactly ours again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from laconic.clients import jsonc, markdown_section, toml_tables
from laconic.clients.registry import all_setups
from laconic.clients.setup import AROUND, NAME, ClientFolders, ClientSetup, Scope
from laconic.errors import LaconicError, Unreadable
from laconic.workspace.atomic_write import write_whole

_MARK: Final = "\ufeff"  # some editors begin a file with it


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A change of one file and its reverse."""

    path: Path
    put: Callable[[str], str]
    take: Callable[[str], str]
    within: tuple[Path, ...]  # folders that the file must be in, links followed


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """What became of a file."""

    path: Path
    what: str  # written, created, unchanged, removed, deleted
    backup: Path | None = None


def server_edit(client: ClientSetup, places: ClientFolders, scope: Scope, words: list[str]) -> ConfigChange:
    """Our server in the client's file; settings that the user gave our entry stay."""
    path, within = client.file(places, scope), client.folders(places, scope)
    entry = client.entry(words)
    at = (*client.table, NAME)
    if path.suffix == ".toml":
        return ConfigChange(
            path, lambda text: toml_tables.put(text, at, entry), lambda text: toml_tables.take(text, at), within
        )

    def put(text: str) -> str:
        if _entry(jsonc.parse(text), at) is None:
            return jsonc.put(text, at, entry)
        for key, value in entry.items():
            text = jsonc.put(text, (*at, key), value)
        return text

    return ConfigChange(path, put, lambda text: jsonc.take(text, at), within)


def notes_edit(path: Path, body: str, within: tuple[Path, ...]) -> ConfigChange:
    """Our section in a file that models read."""
    return ConfigChange(path, lambda text: markdown_section.put(text, body), markdown_section.take, within)


def place(edit: ConfigChange) -> Path:
    """The file that a change is written to, links followed; one that leads out of its folder is refused."""
    try:
        path = edit.path.resolve()
        inside = any(path.is_relative_to(folder.resolve()) for folder in edit.within)
    except (OSError, RuntimeError) as error:
        raise Unreadable(f"{edit.path} cannot be followed: {error}.", "Fix the link, or use --print.") from None
    if not inside:
        problem = f"{edit.path} is a link to {path}, outside of {edit.within[0]}: it is not written through."
        raise Unreadable(problem, "Put a file in its place, or use --print and edit it by hand.")
    return path


def check(edit: ConfigChange) -> None:
    """An error where the change cannot be made; nothing is written."""
    path = place(edit)
    if path.exists():
        _change_named(edit.put, read(path), path)


def configured_command(client: ClientSetup, places: ClientFolders, scope: Scope) -> list[str] | None:
    """The command by which a client starts us, or None when it does not."""
    entry = configured_entry(client, places, scope)
    if entry is None:
        return None
    return client.command(entry)


def configured_entry(client: ClientSetup, places: ClientFolders, scope: Scope) -> Mapping[str, Any] | None:
    """Our entry in a client's file, or None when there is none."""
    path = client.file(places, scope)
    if not path.is_file():
        return None
    parse: Callable[[str], Any] = toml_tables.parse if path.suffix == ".toml" else jsonc.parse
    entry = _entry(parse(read(path).removeprefix(_MARK)), (*client.table, NAME))
    if isinstance(entry, Mapping):
        return entry
    return None


def other_servers(
    client: ClientSetup, places: ClientFolders, scope: Scope, *, normal: bool = False
) -> dict[str, dict[str, Any]]:
    """The servers in a client's file that are not ours; `normal`: how the client reaches one stands in its `type`."""
    path = client.file(places, scope)
    if not path.is_file():
        return {}
    parse: Callable[[str], Any] = toml_tables.parse if path.suffix == ".toml" else jsonc.parse
    table = _entry(parse(read(path).removeprefix(_MARK)), client.table)
    found: dict[str, dict[str, Any]] = {}
    for name, entry in table.items() if isinstance(table, Mapping) else ():
        if name not in {NAME, AROUND} and isinstance(entry, Mapping):
            found[name] = dict(entry)
            if normal and "url" in entry and "type" not in entry:
                found[name]["type"] = client.url_transport
    return found


def is_needed_elsewhere(client: ClientSetup, places: ClientFolders, scope: Scope) -> bool:
    """Whether another client reads the same guidance and still starts us."""
    notes = client.notes_file(places, scope)
    others = []
    for other in all_setups():
        if other is not client and other.notes_file(places, scope) == notes:
            others.append(other)
    return any(_still(other, places, scope) for other in others)


def _still(client: ClientSetup, places: ClientFolders, scope: Scope) -> bool:
    try:
        return configured_command(client, places, scope) is not None
    except LaconicError:
        return False  # a file that cannot be read starts nobody


def is_mentioned(path: Path) -> bool:
    """Whether a file of guidance takes in another one that holds our section: `@AGENTS.md`."""
    if not path.is_file():
        return False
    words = []
    for line in read(path).splitlines():
        for word in line.split():
            if word.startswith("@"):
                words.append(word)
    taken = []
    for word in words:
        if word.endswith(".md"):
            taken.append(path.parent / word[1:])
    return any(other.is_file() and markdown_section.START in read(other) for other in taken if other != path)


def apply(edit: ConfigChange, backups: Path) -> WrittenFile:
    """Put it in, after a copy of what was there; a second time changes nothing."""
    path = place(edit)
    before = ""
    if path.exists():
        before = read(path)
    after = _change_named(edit.put, before, path)
    if path.exists() and after == before:
        return WrittenFile(path, "unchanged")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, after)
        return WrittenFile(path, "created")
    copy = _backup(backups, path)
    is_theirs = _change_named(edit.take, before, path) == before
    if is_theirs:  # a file that holds ours already is not what was there before us
        backups.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(copy, path.read_bytes())
    write(path, after)
    return WrittenFile(path, "written", copy if copy.exists() else None)


def undo(edit: ConfigChange, backups: Path) -> WrittenFile:
    """Take ours out; a file that nobody changed since becomes what it was before, byte for byte."""
    path = place(edit)
    if not path.is_file():
        return WrittenFile(path, "unchanged")
    now = read(path)
    copy = _backup(backups, path)
    before = read(copy) if copy.is_file() else None
    after = _change_named(edit.take, now, path)
    if before is not None and _change_named(edit.put, before, path) == now:
        after = before
    if after == now:
        return WrittenFile(path, "unchanged")
    copy.unlink(missing_ok=True)
    if before is None and after.removeprefix(_MARK).strip() in {"", "{}"}:
        path.unlink()
        if path.parent.name.startswith("."):  # a client's own folder, such as .cursor
            with suppress(OSError):
                path.parent.rmdir()  # only when it is empty
        return WrittenFile(path, "deleted")
    write(path, after)
    return WrittenFile(path, "removed")


def read(path: Path) -> str:
    """A file of configuration as text, with its line ends."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.", "Fix the file, or use --print.") from None


def write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise Unreadable(f"{path} cannot be written: {error.strerror}.", "Use --print and edit it by hand.") from None


def _change_named(change: Callable[[str], str], text: str, path: Path) -> str:
    """Apply a change behind a byte order mark; a refusal says which file it is about."""
    mark = ""
    if text.startswith(_MARK):
        mark = _MARK
    try:
        return mark + change(text.removeprefix(_MARK))
    except LaconicError as error:
        raise Unreadable(f"{path}: {error.problem}", error.fix) from None


def _backup(folder: Path, path: Path) -> Path:
    return folder / f"{sha256(str(path).encode()).hexdigest()[:12]}-{path.name.lstrip('.')}"


def _entry(value: Any, at: tuple[str, ...]) -> Any:
    for key in at:
        value = value.get(key) if isinstance(value, dict) else None
    return value
