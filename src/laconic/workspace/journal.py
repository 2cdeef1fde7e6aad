"""Write several files all or nothing, even when the process is killed in between, and undo it later.

A change has a folder of its own: `plan` names every file before anything happens, `old-N` keeps what was there,
`commit` says that all new contents are staged, `done` that all are in place. What a dead process left is finished or
taken back, as a whole, by `recover`; it runs before every change.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import EditRefused
from laconic.workspace.atomic_write import (
    has_other_names,
    is_cut_short,
    put,
    stage,
    sync_folder,
    write_in_place,
    write_whole,
)
from laconic.workspace.lock import hold_lock

_KEPT: Final = 50  # changes that stay undoable
_RUINED: Final = 2  # changes with a damaged plan that are kept
_WAIT: Final = 10.0  # seconds for another writer to end
_ABSENT: Final = ""  # the hash of a file that is not there


class FileWrite(msgspec.Struct, frozen=True):
    """One file's part: the file itself (links followed), what must be there now, and what shall be."""

    target: Path
    before: bytes | None  # None: no file
    after: bytes | None


class _Entry(msgspec.Struct, frozen=True):
    target: str
    staged: str
    before: str  # hashes
    after: str
    in_place: bool = False  # the file has other names, which a rename would part from it


class _Plan(msgspec.Struct, frozen=True):
    entries: list[_Entry]
    folders: list[str] = []  # made for new files, outermost first
    undoes: int = 0


class Journal:
    """The changes of one workspace, in a folder outside of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def apply(self, writes: Sequence[FileWrite]) -> None:
        """Write all files, or none."""
        with self._alone():
            self._recover()
            self._apply(writes, undoes=0)

    def recover(self) -> bool:
        """Finish or take back what a killed process left; says whether there was anything."""
        if not any(self._list_unfinished()):
            return False
        with self._alone():
            return self._recover()

    def undo(self) -> list[Path]:
        """Take back the last change that was not taken back yet; the files it touched."""
        with self._alone():
            self._recover()
            plans = {number: self._plan(number) for number in self._numbers()}
            undone = {plan.undoes for plan in plans.values() if plan and plan.undoes}
            for number, plan in sorted(plans.items(), reverse=True):
                if plan and not plan.undoes and number not in undone and not self._at(number, "reverted").exists():
                    self._apply(self._reverse(number, plan), undoes=number)
                    _drop(plan.folders)
                    found: list[Path] = []
                    for entry in plan.entries:
                        found.append(Path(entry.target))
                    return found
        raise EditRefused("There is no edit to undo.", "Only edits made by `edit` are kept.")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_lock(self._folder / "lock", seconds=_WAIT) as got:
            if not got:
                raise EditRefused("Another process is writing.", "Try again in a moment.")
            yield

    def _apply(self, writes: Sequence[FileWrite], undoes: int) -> None:
        for write in writes:
            if _content(write.target) != write.before:
                raise EditRefused(f"{write.target.name} changed while the edit was prepared.", "Read it again.")
        number = max(self._numbers(), default=0) + 1
        plan = _make_plan(writes, number, undoes)
        self._at(number).mkdir(mode=0o700)
        try:
            write_whole(self._at(number, "plan"), msgspec.json.encode(plan))
            self._stage(number, plan, writes)
            write_whole(self._at(number, "commit"), b"")
        except OSError as error:
            self._discard(number, plan)
            raise EditRefused(f"Nothing was written: {error}.", "Fix that, then repeat the edit.") from None
        if problem := self._finish(number, plan):
            raise EditRefused(f"Nothing was written: {problem}.", "Fix that, then repeat the edit.")
        self._prune()

    def _stage(self, number: int, plan: _Plan, writes: Sequence[FileWrite]) -> None:
        for folder in plan.folders:
            Path(folder).mkdir(exist_ok=True)
        for index, (entry, write) in enumerate(zip(plan.entries, writes, strict=True)):
            if write.before is not None:
                write_whole(self._at(number, f"old-{index}"), write.before)
            if write.after is not None:
                stage(Path(entry.staged), write.target, write.after)

    def _finish(self, number: int, plan: _Plan) -> str:
        """Put every staged file in place; if one cannot be, take all back and say why."""
        problem = ""
        for index, entry in enumerate(plan.entries):
            now = _hash(_content(Path(entry.target)))
            if now == entry.after:
                continue
            if now != entry.before and not self._is_cut_short(number, index, entry):
                problem = f"{entry.target} was changed by someone else"
                break
            try:
                _step(entry)
            except OSError as error:
                problem = str(error)
                break
        if problem:
            self._take_back(number, plan)
        for entry in plan.entries:
            _clear(Path(entry.staged))  # a kill between linking and unlinking leaves both names
        write_whole(self._at(number, "done"), b"")
        return problem

    def _take_back(self, number: int, plan: _Plan) -> None:
        """Restore what this change put in place; what others wrote since stays."""
        write_whole(self._at(number, "reverted"), b"")
        for index, entry in enumerate(plan.entries):
            target, staged = Path(entry.target), Path(entry.staged)
            ours = _hash(_content(target)) == entry.after or self._is_cut_short(number, index, entry)
            if entry.before == entry.after or not ours:
                _clear(staged)
            elif entry.before == _ABSENT:
                _clear(staged)
                target.unlink()
            elif entry.in_place:
                write_in_place(target, self._at(number, f"old-{index}").read_bytes())
                _clear(staged)  # only now: it is what tells a write that was cut short
            else:
                _clear(staged)
                stage(staged, target, self._at(number, f"old-{index}").read_bytes())
                put(staged, target, fresh=False)
        _drop(plan.folders)

    def _is_cut_short(self, number: int, index: int, entry: _Entry) -> bool:
        """Whether a kill stopped a write in place half way."""
        now, after = _content(Path(entry.target)), _content(Path(entry.staged))
        if not entry.in_place or now is None or after is None:
            return False
        return is_cut_short(now, self._at(number, f"old-{index}").read_bytes(), after)

    def _recover(self) -> bool:
        found = False
        for number in list(self._list_unfinished()):
            found = True
            plan = self._plan(number)
            if plan is None:
                shutil.rmtree(self._at(number), ignore_errors=True)
            elif not self._at(number, "commit").exists():
                self._discard(number, plan)
            elif self._at(number, "reverted").exists():
                self._take_back(number, plan)
                write_whole(self._at(number, "done"), b"")
            else:
                self._finish(number, plan)
        return found

    def _discard(self, number: int, plan: _Plan) -> None:
        for entry in plan.entries:
            _clear(Path(entry.staged))
        _drop(plan.folders)
        shutil.rmtree(self._at(number))

    def _reverse(self, number: int, plan: _Plan) -> list[FileWrite]:
        writes = []
        for index, entry in enumerate(plan.entries):
            target = Path(entry.target)
            now = _content(target)
            if _hash(now) != entry.after:
                raise EditRefused(f"{target.name} changed since that edit.", "Undo it by hand; nothing was undone.")
            if entry.before == _ABSENT:
                old = None
            else:
                old = self._at(number, f"old-{index}").read_bytes()
            writes.append(FileWrite(target, now, old))
        return writes

    def _prune(self) -> None:
        for number in sorted(self._numbers())[:-_KEPT]:
            shutil.rmtree(self._at(number))

    def _at(self, number: int, name: str = "") -> Path:
        return self._folder / str(number) / name

    def _numbers(self) -> list[int]:
        found: list[int] = []
        for path in self._folder.glob("[0-9]*"):
            found.append(int(path.name))
        return found

    def _list_unfinished(self) -> Iterator[int]:
        return (number for number in sorted(self._numbers()) if not self._at(number, "done").exists())

    def _plan(self, number: int) -> _Plan | None:
        """The plan of a change; None if the process died before it was written, or if it cannot be read."""
        try:
            return msgspec.json.decode(self._at(number, "plan").read_bytes(), type=_Plan)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError:
            # Nobody knows what it changed: it is moved aside, with the old contents, so that edits go on.
            self._at(number).rename(self._folder / f"ruined-{number}-{time.time_ns()}")
            for old in sorted(self._folder.glob("ruined-*"), key=lambda path: path.name.rsplit("-", 1)[1])[:-_RUINED]:
                shutil.rmtree(old)
            return None


def _make_plan(writes: Sequence[FileWrite], number: int, undoes: int) -> _Plan:
    mark = sha256("\0".join(str(write.target) for write in writes).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    entries = []
    for index, write in enumerate(writes):
        entries.append(
            _Entry(
                target=str(write.target),
                staged=str(write.target.with_name(f".laconic-{mark}-{number}-{index}.tmp")),
                before=_hash(write.before),
                after=_hash(write.after),
                in_place=write.before is not None and write.after is not None and has_other_names(write.target),
            )
        )
    folders: set[Path] = set()
    for write in writes:
        folders.update(folder for folder in write.target.parents if not folder.exists())
    return _Plan(entries, [str(folder) for folder in sorted(folders)], undoes)


def _step(entry: _Entry) -> None:
    target = Path(entry.target)
    if entry.after == _ABSENT:
        target.unlink()
        sync_folder(target.parent)
    elif entry.in_place:
        write_in_place(target, Path(entry.staged).read_bytes())
    else:
        put(Path(entry.staged), target, fresh=entry.before == _ABSENT)


def _clear(staged: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        staged.unlink()


def _drop(folders: Sequence[str]) -> None:
    """Remove folders that were made for new files, unless something else is in them by now."""
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except OSError:
            return


def _content(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _hash(content: bytes | None) -> str:
    if content is None:
        return _ABSENT
    return sha256(content).hexdigest()
