"""A git folder of our own making beside a repository, so that git never reads the repository's configuration.

It has the repository's HEAD, index, references and ignore rules, and a configuration that we write. A configuration can
name programs in more than thirty places and more with every release; what git does not read cannot be sprung.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

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
_COPIED: Final = 100_000_000  # bytes of an index; a larger one is read where it is


@contextmanager
def clean_git_dir(repository: Repository, *, index: bool) -> Iterator[Path]:
    """The folder for one command, with a copy of the index if the command reads it."""
    config = _config(repository)
    with TemporaryDirectory(prefix="laconic-git-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / ".git"  # by that name git passes over it, should it be inside of a workspace
        folder.mkdir()
        own, shared = repository.git_dir, repository.common_dir
        (folder / "config").write_text(config, "utf-8")
        (folder / "HEAD").write_bytes(read_small(own / "HEAD"))
        for pointer in _POINTERS:
            _copy(own / pointer, folder / pointer)
        _copy(shared / "shallow", folder / "shallow")
        _link(shared / "refs", folder / "refs")
        _link(shared / "packed-refs", folder / "packed-refs")
        _link_logs(repository, folder / "logs")
        if index:
            _copy_index(own, folder)
            (folder / "info").mkdir()
            for rules in ("exclude", "attributes"):
                _copy(shared / "info" / rules, folder / "info" / rules)
        yield folder


def harmless(config: Mapping[str, str]) -> dict[str, str]:
    """What of a configuration git may know: words that say how files are compared."""
    return {name: config[name] for name in HARMLESS if name in config and _WORD.fullmatch(config[name])}


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
                f"The repository uses the extension {extension[:40]!r} ({value[:40]!r}) of git, which is not understood.",
                "Name a patch file made with `git diff` instead.",
            )
    lines += ["[extensions]", f"objectformat = {given.get('extensions.objectformat', 'sha1').lower()}"]
    return "\n".join(lines) + "\n"


def _copy(source: Path, target: Path) -> None:
    if data := read_small(source):
        target.write_bytes(data)


def _link_logs(repository: Repository, logs: Path) -> None:
    """What `HEAD@{1}` is read from; a linked work tree has its own log of HEAD, and shares the others."""
    if repository.git_dir == repository.common_dir:
        _link(repository.git_dir / "logs", logs)
        return
    logs.mkdir()
    _link(repository.git_dir / "logs" / "HEAD", logs / "HEAD")
    _link(repository.common_dir / "logs" / "refs", logs / "refs")


def _copy_index(own: Path, folder: Path) -> None:
    """Git may bring an index up to date while it reads: that happens to the copy."""
    source = own / "index"
    if not source.is_file():
        return
    status = source.stat()
    if status.st_size > _COPIED:
        _link(source, folder / "index")
    else:
        shutil.copyfile(source, folder / "index")
        # Git looks again into files that are as young as the index: a copy must not be younger.
        os.utime(folder / "index", ns=(status.st_atime_ns, status.st_mtime_ns))
    for part in own.glob("sharedindex.*"):
        _link(part, folder / part.name)


def _link(source: Path, target: Path) -> None:
    """A link, or a copy where the system has no links for us."""
    if not source.exists():
        return
    try:
        target.symlink_to(source, target_is_directory=source.is_dir())
    except OSError:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
