"""A clean git folder next to a repository, so that git never reads the repository's configuration.

It has the repository's HEAD, index, references and ignore rules, and a configuration that we write. A configuration can
name programs in more than thirty places and more with every release; what git does not read cannot be sprung.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Final
from weakref import finalize

from laconic.errors import Unreadable
from laconic.workspace.repository import Repository, read_small

# How files are compared, and nothing that names a file or a program.
HARMLESS: Final = (
    "core.autocrlf", "core.checkstat", "core.eol", "core.filemode", "core.ignorecase", "core.precomposeunicode",
    "core.symlinks", "core.trustctime",
)  # fmt: skip
_WORD: Final = re.compile(r"[a-z0-9]*", re.IGNORECASE)
_EXTENSIONS: Final = {  # and the values for which what we lay out is right; None: any
    "objectformat": ("sha1", "sha256"),
    "refstorage": ("files",),
    "partialclone": None,
    "worktreeconfig": None,
    "relativeworktrees": None,
    "preciousobjects": None,
    "noop": None,
    "noop-v1": None,
}
_POINTERS: Final = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
_LARGEST_INDEX: Final = 1_000_000_000  # bytes; that of three million files has half of it


class CleanGitDir:
    """The folder for one repository, brought up to date for each command; it goes when nobody holds it any more."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._around = Path(mkdtemp(prefix="laconic-git-"))
        self._folder = self._around / ".git"  # by that name git passes over it, should it be inside of a workspace
        self._written: dict[str, bytes] = {}
        self._index: tuple[int, ...] = ()
        self._updating = Lock()
        finalize(self, shutil.rmtree, self._around, ignore_errors=True)

    def update(self, *, index: bool) -> Path:
        """The folder as the repository is now, with the index if a command reads it."""
        own, shared = self._repository.git_dir, self._repository.common_dir
        with self._updating:
            if not (self._folder / "HEAD").exists():  # new, or somebody has cleaned up
                self._lay_out()
            self._write("config", _config(self._repository).encode())
            self._write("HEAD", read_small(own / "HEAD"))
            for pointer in _POINTERS:
                self._write(pointer, read_small(own / pointer))
            self._write("shallow", read_small(shared / "shallow"))
            _link(shared / "refs", self._folder / "refs")
            _link(shared / "packed-refs", self._folder / "packed-refs")
            _link(own / "logs" / "HEAD", self._folder / "logs" / "HEAD")
            _link(shared / "logs" / "refs", self._folder / "logs" / "refs")
            if index:
                self._write("info/exclude", read_small(shared / "info" / "exclude"))
                self._write("info/attributes", read_small(shared / "info" / "attributes"))
                self._copy_index(own)
        return self._folder

    def _lay_out(self) -> None:
        self._written.clear()
        self._index = ()
        for name in ("info", "logs"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        # Git may bring an index up to date while it reads; a lock that is taken keeps it from that.
        (self._folder / "index.lock").touch()

    def _write(self, name: str, data: bytes) -> None:
        """One small file, if it is not as it should be; empty means that there is none."""
        if data == self._written.get(name, b""):
            return
        if data:
            _replace(self._folder / name, data)
        else:
            (self._folder / name).unlink(missing_ok=True)
        self._written[name] = data

    def _copy_index(self, own: Path) -> None:
        source, target = own / "index", self._folder / "index"
        if not source.is_file():
            target.unlink(missing_ok=True)
            self._index = ()
            return
        status = source.stat()
        if status.st_size > _LARGEST_INDEX:
            raise Unreadable(f"{source} has {status.st_size} bytes.", "Check the repository with `git fsck`.")
        state = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if state == self._index:
            return
        copy = self._around / "index"
        shutil.copyfile(source, copy)
        # Git looks again into files that are as young as the index: a copy must not be younger.
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        copy.replace(target)
        for part in own.glob("sharedindex.*"):
            _link(part, self._folder / part.name)
        self._index = state


def harmless(config: Mapping[str, str]) -> dict[str, str]:
    """What of a configuration git may know: words that say how files are compared."""
    found: dict[str, str] = {}
    for name in HARMLESS:
        if name in config and _WORD.fullmatch(config[name]):
            found[name] = config[name]
    return found


def _config(repository: Repository) -> str:
    """The whole configuration that git reads as the repository's."""
    given = repository.config()
    lines = ["[core]", "repositoryformatversion = 1", f"bare = {'false' if repository.top else 'true'}"]
    lines += [f"{name.removeprefix('core.')} = {value}" for name, value in harmless(given).items()]
    for name in (name for name in given if name.startswith("extensions.")):
        extension, value = name.removeprefix("extensions."), given[name].lower()
        known = _EXTENSIONS.get(extension, ())
        if known is not None and value not in known:
            raise Unreadable(
                f"The repository uses the extension {extension[:40]!r} ({value[:40]!r}) of git, which is not supported.",
                "Name a patch file made with `git diff` instead.",
            )
    lines += ["[extensions]", f"objectformat = {given.get('extensions.objectformat', 'sha1').lower()}"]
    return "\n".join(lines) + "\n"


def _replace(target: Path, data: bytes) -> None:
    """Write in one step: a command of another thread may be reading."""
    made = target.with_name(f"{target.name}.new")
    made.write_bytes(data)
    made.replace(target)


def _link(source: Path, target: Path) -> None:
    """A link, which is always up to date; where the system has no links for us, a copy."""
    if target.is_symlink():
        return
    try:
        target.symlink_to(source, target_is_directory=source.is_dir())
    except OSError:
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        elif source.exists():
            shutil.copyfile(source, target)
