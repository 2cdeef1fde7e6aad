"""Lay out a repository at a commit from a bare clone, rewriting only what differs from the commit before."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from laconic.errors import Unreadable
from laconic.workspace.git import git
from laconic_benchmarks.report import Options

THIS_REPOSITORY: Final = "this repository"  # in place of a clone's name: the history that this package came with
T = TypeVar("T")
_LARGEST: Final = 1_000_000  # bytes; what is larger is not code
_BINARY: Final = 4000  # bytes in which a zero tells a binary file


def clone_of(name: str, options: Options) -> Path:
    """The clone with the history of a task: a bare one in the folder of clones, or the one that we came with."""
    if name != THIS_REPOSITORY:
        return mirror_folder(options) / name / "repo"
    root = Path(__file__).resolve().parent.parent.parent
    if not (root / ".git").exists():
        raise Unreadable(
            "The samples are commits of this project, and its history is not here.",
            "Clone the repository and run `make demo` in it, or name recorded data with --data.",
        )
    return root


def with_clones(tasks: Mapping[str, Sequence[T]], options: Options) -> dict[str, Sequence[T]]:
    """The tasks whose repositories are here; those that are not are named, and it is an error when none is."""
    found: dict[str, Sequence[T]] = {}
    missing = []
    for name, group in tasks.items():
        if clone_of(name, options).exists():
            found[name] = group
        else:
            missing.append(name)
    if missing:
        said = f"no clone of {', '.join(missing)} in the folder of clones"
        if not found:
            raise Unreadable(f"There is {said}.", "Clone one of them bare, as owner+name/repo, or leave --data out.")
        options.progress(f"left aside: {said}")
    return found


def mirror_folder(options: Options) -> Path:
    """Where the bare clones are: a word that is a folder, else the setting."""
    folder = next((Path(word) for word in options.args if Path(word).is_dir()), Path(options.mirror))
    if folder == Path() or not folder.is_dir():
        raise Unreadable(
            f"The folder of clones ({options.mirror or 'none is named'}) is not there.",
            "Put bare clones into a folder as owner+name/repo and name it in the setting bench.mirror.",
        )
    return folder


def part_of_name(options: Options) -> str:
    """The word that narrows a run to some repositories."""
    return next((word for word in options.args if not Path(word).is_dir()), "")


class Snapshot:
    """A folder that shows a repository at one commit after another."""

    def __init__(self, clone: Path, folder: Path) -> None:
        self.clone = clone
        self.folder = folder
        self._note: Path | None = None
        self._shown: dict[str, str] = {}  # path to blob
        self._lines: dict[str, list[str]] = {}

    @classmethod
    def kept(cls, clone: Path, work: Path) -> Snapshot:
        """One that stays in a folder of ours from run to run, with a note of what it shows."""
        made = cls(clone, work / "code")
        made._note = work / "shown.json"
        try:
            made._shown = msgspec.json.decode(made._note.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.MsgspecError):  # new, or left half way
            shutil.rmtree(made.folder, ignore_errors=True)
        made.folder.mkdir(parents=True, exist_ok=True)
        return made

    def show(self, commit: str) -> None:
        """Make the folder hold the text files of a commit."""
        self._lines.clear()
        if self._note is not None:
            self._note.unlink(missing_ok=True)
        wanted = {path: blob for path, blob, size in self._listed(commit) if size <= _LARGEST}
        for path in [path for path in self._shown if path not in wanted]:
            (self.folder / path).unlink(missing_ok=True)
            del self._shown[path]
        changed = [(path, blob) for path, blob in wanted.items() if self._shown.get(path) != blob]
        for (path, blob), data in zip(changed, self._blobs([blob for _, blob in changed]), strict=True):
            if data is None or b"\0" in data[:_BINARY]:
                continue
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            self._shown[path] = blob
        if self._note is not None:
            self._note.write_bytes(msgspec.json.encode(self._shown))

    def lines(self, path: str) -> list[str]:
        """The lines of a file as it is shown now."""
        if path not in self._lines:
            shown = path in self._shown
            self._lines[path] = (self.folder / path).read_text("utf-8", "replace").split("\n") if shown else []
        return self._lines[path]

    def last_before(self, date: str) -> str:
        """The last commit before a date."""
        return self._git("rev-list", "-1", f"--before={date}", "HEAD").decode().strip()

    def _listed(self, commit: str) -> Iterator[tuple[str, str, int]]:
        for row in self._git("ls-tree", "-r", "-l", "-z", commit).decode("utf-8", "surrogateescape").split("\0"):
            if not row:
                continue
            head, path = row.split("\t", 1)
            mode, kind, blob, size = head.split()
            if kind == "blob" and mode != "120000" and size.isdigit():
                yield path, blob, int(size)

    def _blobs(self, blobs: list[str]) -> Iterator[bytes | None]:
        """Their contents; None for one that the clone lacks."""
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        out = self._git("cat-file", "--batch", given=asked)
        at = 0
        for _ in blobs:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            at = end + 1
            if head[-1] == b"missing":
                yield None
                continue
            size = int(head[2])
            yield out[at : at + size]
            at += size + 1

    def _git(self, *args: str, given: bytes = b"") -> bytes:
        return git(self.clone, *args, seconds=600, given=given)
