"""Find the git repository around a folder by reading files alone, and refuse one whose data lies somewhere else.

A `.git` file, a link or a list of alternates can name any place of the disk. Such a place is read only if it belongs to
this work tree, says so itself (linked work trees and submodules do), or if the user trusts it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from laconic.errors import Unreadable
from laconic.workspace.git_config import parse_config

Trusted = Callable[[Path], Sequence[str]]  # the folders that the user calls safe, asked for when it matters
_LARGEST: Final = 1_000_000  # bytes of a file that git keeps for itself; a configuration has hundreds
_PARTS: Final = (
    "HEAD",
    "index",
    "objects",
    "objects/info",
    "refs",
    "refs/heads",
    "packed-refs",
    "logs",
    "logs/HEAD",
    "info",
)


@dataclass(frozen=True, slots=True)
class Repository:
    """Where the parts of a repository are, all links resolved."""

    top: Path | None  # of the work tree; None: a bare repository
    git_dir: Path
    common_dir: Path  # where a linked work tree shares what is not its own

    def holds(self, path: Path) -> bool:
        """Whether a place is part of the repository or of its work tree."""
        own = (self.git_dir, self.common_dir, self.top or self.git_dir)
        return any(_is_below(path, each) for each in own)

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    def config(self) -> dict[str, str]:
        """What the repository would have git do, as data."""
        return parse_config(read_small(self.common_dir / "config").decode("utf-8", "replace"))


def find_repository(folder: Path, trusted: Trusted) -> Repository | None:
    """The repository whose work tree holds a folder, or the bare one that it is; None where there is none."""
    try:
        start = folder.resolve()
        below = start.stat()
    except (OSError, ValueError, RuntimeError):
        return None
    if os.path.lexists(start / ".git") and (found := _open(start, trusted)) is not None:
        return found
    if _is_git_dir(start, start):
        return _check(Repository(None, start, start), trusted)
    for place in start.parents:
        if os.path.lexists(place / ".git"):
            if not _may_decide(place, below):
                return None
            if (found := _open(place, trusted)) is not None:
                return found
    return None


def read_small(path: Path) -> bytes:
    """A file of git's own; empty where it is missing, too large, or something that must not be opened."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or path.stat().st_size > _LARGEST:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


def _may_decide(place: Path, below: os.stat_result) -> bool:
    """Whether the repository of a folder above is taken: not across disks, nor one that somebody else put there."""
    if hasattr(os, "geteuid"):
        owners = {below.st_uid, os.geteuid()}
    else:
        owners = {below.st_uid}
    try:
        above, entry = place.stat(), (place / ".git").lstat()
    except OSError:
        return False
    return above.st_dev == below.st_dev and {above.st_uid, entry.st_uid} <= owners


def _open(top: Path, trusted: Trusted) -> Repository | None:
    """The repository of a work tree; None where `.git` is a folder that is not one."""
    entry = top / ".git"
    git_dir = _target(entry)
    shared = _line(git_dir / "commondir")
    common = _resolve(git_dir, shared) if shared else git_dir
    if not _is_git_dir(git_dir, common):
        if entry.is_dir() and not entry.is_symlink():
            return None
        raise Unreadable(
            f"{entry} points to {git_dir}, which is not a repository.", "`git worktree repair` may fix it."
        )
    found = Repository(top, git_dir, common)
    if not _belongs(found):
        _require_trust(found, entry, common, trusted)
    return _check(found, trusted)


def _target(entry: Path) -> Path:
    """The folder that `.git` is, links to, or names."""
    if entry.is_dir():
        return entry.resolve()
    named = _line(entry)
    if not named.startswith("gitdir:"):
        raise Unreadable(f"{entry} does not name a repository.", "Remove it, or write `gitdir: FOLDER` into it.")
    return _resolve(entry.parent, named.removeprefix("gitdir:").strip())


def _is_git_dir(git_dir: Path, common: Path) -> bool:
    try:
        return os.path.lexists(git_dir / "HEAD") and (common / "objects").is_dir() and (common / "refs").is_dir()
    except OSError:
        return False


def _belongs(found: Repository) -> bool:
    """Whether the data is in the work tree, or the place where it is names the work tree in turn."""
    assert found.top is not None
    if found.git_dir != found.common_dir and found.git_dir.parent != found.common_dir / "worktrees":
        return False
    if _is_below(found.git_dir, found.top) and _is_below(found.common_dir, found.top):
        return True
    return not _is_below(found.git_dir, found.top) and _names(found.git_dir, found.top)


def _names(git_dir: Path, top: Path) -> bool:
    """Whether a place outside says that it serves this work tree; who only made the work tree cannot write that."""
    back = _line(git_dir / "gitdir")
    if back and _resolve(git_dir, back) == top / ".git":
        return True
    for name in ("config", "config.worktree"):
        named = parse_config(read_small(git_dir / name).decode("utf-8", "replace")).get("core.worktree", "")
        if named and _resolve(git_dir, named) == top:
            return True
    return False


def _check(found: Repository, trusted: Trusted) -> Repository:
    """The same repository, if nothing in it leads to the data of another one."""
    for part in _odd_parts(found):
        if not part.is_symlink():
            raise Unreadable(f"{part} is neither a file nor a folder.", "Remove it: git would wait for it.")
        if not found.holds(target := _resolve(part.parent, part.name)):
            _require_trust(found, part, target, trusted)
    for store, borrowed in _alternates(found.objects):
        if not found.holds(borrowed):
            _require_trust(found, store / "info" / "alternates", borrowed, trusted)
    return found


def _odd_parts(found: Repository) -> Iterator[Path]:
    """What is a link, or a pipe, although git makes it a file or a folder."""
    for home in {found.git_dir, found.common_dir}:
        for name in _PARTS:
            if _is_odd(home / name):
                yield home / name
    refs = found.common_dir / "refs"
    folders = (found.objects, found.objects / "pack", found.objects / "info", refs / "heads", refs / "tags")
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                yield from [Path(entry.path) for entry in entries if _is_odd_entry(entry)]
        except OSError:
            continue


def _is_odd(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_odd_entry(entry: os.DirEntry[str]) -> bool:
    return not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False))


def _alternates(objects: Path) -> Iterator[tuple[Path, Path]]:
    """Every store of objects that another borrows from, and the one that borrows."""
    known, left = {objects}, [objects]
    while left:
        store = left.pop()
        for line in read_small(store / "info" / "alternates").decode("utf-8", "surrogateescape").split("\n"):
            borrowed = _resolve(store, line.strip('"'))
            if line and not line.startswith("#") and borrowed not in known:
                known.add(borrowed)
                left.append(borrowed)
                yield store, borrowed


def _require_trust(found: Repository, what: Path, target: Path, trusted: Trusted) -> None:
    """Go on only if the user has told git to trust the repository, or the place that something in it leads to."""
    own = found.top or found.git_dir
    names = trusted(own)
    safe = []
    for name in names:
        if name != "*":
            safe.append(Path(name.removesuffix("/*")).expanduser().resolve())
    if "*" in names or own in safe or any(_is_below(target, place) for place in safe):
        return
    raise Unreadable(
        f"{what} points outside the repository, to {target}.",
        f"If that is intended, run `git config --global --add safe.directory {own}`.",
    )


def _is_below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _line(path: Path) -> str:
    return read_small(path).decode("utf-8", "surrogateescape").rstrip("\r\n")


def _resolve(folder: Path, name: str) -> Path:
    try:
        return (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(f"{folder} names {name[:200]!r}, which cannot be followed: {error}.") from None
