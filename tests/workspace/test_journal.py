"""Writing several files all or nothing, surviving a kill, and undoing."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from laconic.errors import EditRefused
from laconic.workspace.journal import FileWrite, Journal
from laconic_benchmarks.powercut import survey


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    (place / "a").write_bytes(b"a1")
    (place / "b").write_bytes(b"b1")
    return place


@pytest.mark.feature("P5")
def test_files_are_changed_made_and_removed_together_and_undone(folder: Path, journal: Journal) -> None:
    before = tree(folder)
    journal.apply(
        [
            FileWrite(folder / "a", b"a1", b"a2"),
            FileWrite(folder / "b", b"b1", None),
            FileWrite(folder / "new" / "deep" / "c", None, b"c1"),
        ]
    )
    assert tree(folder) == {"a": b"a2", "new/deep/c": b"c1"}
    journal.undo()
    assert tree(folder) == before


def test_undo_goes_back_step_by_step_and_ends(folder: Path, journal: Journal) -> None:
    for step in range(1, 4):
        journal.apply([FileWrite(folder / "a", f"a{step}".encode(), f"a{step + 1}".encode())])
    for step in (3, 2, 1):
        assert journal.undo() == [folder / "a"]
        assert (folder / "a").read_bytes() == f"a{step}".encode()
    with pytest.raises(EditRefused, match="no edit to undo"):
        journal.undo()


def test_undo_refuses_when_a_file_changed_since(folder: Path, journal: Journal) -> None:
    journal.apply([FileWrite(folder / "a", b"a1", b"a2"), FileWrite(folder / "b", b"b1", b"b2")])
    (folder / "b").write_bytes(b"mine")
    with pytest.raises(EditRefused, match="changed since"):
        journal.undo()
    assert tree(folder) == {"a": b"a2", "b": b"mine"}


@pytest.mark.feature("P5")
def test_a_file_that_changed_while_the_edit_was_prepared_stops_all(folder: Path, journal: Journal) -> None:
    before = tree(folder)
    with pytest.raises(EditRefused, match="changed while"):
        journal.apply([FileWrite(folder / "a", b"a1", b"a2"), FileWrite(folder / "b", b"other", b"b2")])
    assert tree(folder) == before


@pytest.mark.feature("P5")
def test_when_one_file_cannot_be_written_none_is(folder: Path, journal: Journal) -> None:
    """A file stands where a folder of the change should go."""
    before = tree(folder)
    with pytest.raises(EditRefused, match="Nothing was written"):
        journal.apply([FileWrite(folder / "a", b"a1", b"a2"), FileWrite(folder / "b" / "c", None, b"new")])
    assert tree(folder) == before


def test_mode_survives(folder: Path, journal: Journal) -> None:
    (folder / "a").chmod(0o751)
    journal.apply([FileWrite(folder / "a", b"a1", b"a2")])
    assert (folder / "a").stat().st_mode & 0o7777 == 0o751


def test_a_new_file_gets_the_mode_of_any_new_file(folder: Path, journal: Journal) -> None:
    journal.apply([FileWrite(folder / "n", None, b"n")])
    mask = os.umask(0)
    os.umask(mask)
    assert (folder / "n").stat().st_mode & 0o7777 == 0o666 & ~mask


@pytest.mark.feature("P5")
def test_a_killed_process_leaves_all_old_or_all_new(tmp_path: Path) -> None:
    """A few of the rounds of `laconic bench powercut`."""
    states = survey(tmp_path, 4, random.Random(7))
    assert all(whole and together for whole, together, _ in states)


@pytest.mark.parametrize("foreign", [False, True])
def test_recovery_finishes_a_committed_change_or_takes_it_back_whole(
    folder: Path, journal: Journal, foreign: bool
) -> None:
    """As found after a kill between two renames: the first file is new, the second still staged."""
    journal.apply([FileWrite(folder / "a", b"a1", b"a2"), FileWrite(folder / "b", b"b1", b"b2")])
    record = next(path for path in (folder.parent / "journal").iterdir() if path.name == "1")
    (record / "done").unlink()
    staged = [path for path in (record / "plan").read_text().split('"') if path.endswith("-1.tmp")]
    (folder / "b").rename(staged[0])
    (folder / "b").write_bytes(b"someone else" if foreign else b"b1")
    assert journal.recover()
    assert tree(folder) == ({"a": b"a1", "b": b"someone else"} if foreign else {"a": b"a2", "b": b"b2"})
    assert not journal.recover()


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes are Linux's")
def test_extended_attributes_survive(folder: Path, journal: Journal) -> None:
    try:
        os.setxattr(folder / "a", "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has none")
    journal.apply([FileWrite(folder / "a", b"a1", b"a2")])
    assert os.getxattr(folder / "a", "user.note") == b"kept"
    journal.undo()
    assert os.getxattr(folder / "a", "user.note") == b"kept"


def test_hard_links_stay_together(folder: Path, journal: Journal) -> None:
    (folder / "other").hardlink_to(folder / "a")
    journal.apply([FileWrite(folder / "a", b"a1", b"longer than it was"), FileWrite(folder / "b", b"b1", b"b2")])
    assert tree(folder) == {"a": b"longer than it was", "b": b"b2", "other": b"longer than it was"}
    assert (folder / "a").samefile(folder / "other")
    journal.undo()
    assert tree(folder) == {"a": b"a1", "b": b"b1", "other": b"a1"}
    assert (folder / "a").samefile(folder / "other")


@pytest.mark.parametrize(
    ("old", "new", "torn"),
    [
        (b"old and long old content", b"new content", b"new and long old content"),
        (b"old and long old content", b"new content", b"new contentg old content"),
        (b"old", b"new and longer", b"nld"),
        (b"old", b"new and longer", b"new and"),
        (b"o" * 9000, b"n" * 9000, b"o" * 4096 + b"n" * 4000 + b"o" * 904),  # pages reach the disk in any order
    ],
)
@pytest.mark.parametrize("foreign", [False, True])
def test_a_write_in_place_that_was_cut_short_is_finished_or_taken_back(
    folder: Path, journal: Journal, old: bytes, new: bytes, torn: bytes, *, foreign: bool
) -> None:
    """As found after a kill while the second of three files was written over."""
    (folder / "b").write_bytes(old)
    (folder / "c").write_bytes(b"c1")
    (folder / "other").hardlink_to(folder / "b")
    changes = [
        FileWrite(folder / "a", b"a1", b"a2"),
        FileWrite(folder / "b", old, new),
        FileWrite(folder / "c", b"c1", b"c2"),
    ]
    journal.apply(changes)
    record = next(path for path in (folder.parent / "journal").iterdir() if path.name == "1")
    (record / "done").unlink()
    staged = sorted(path for path in (record / "plan").read_text().split('"') if path.endswith(".tmp"))
    Path(staged[1]).write_bytes(new)
    (folder / "c").rename(staged[2])
    (folder / "c").write_bytes(b"someone else" if foreign else b"c1")
    (folder / "b").write_bytes(torn)
    assert journal.recover()
    wanted = (b"a1", old, b"someone else") if foreign else (b"a2", new, b"c2")
    assert tree(folder) == dict(zip("abc", wanted, strict=True)) | {"other": wanted[1]}
    assert not journal.recover()


def test_what_somebody_else_wrote_over_a_write_that_was_cut_short_stays(folder: Path, journal: Journal) -> None:
    (folder / "other").hardlink_to(folder / "a")
    journal.apply([FileWrite(folder / "a", b"a1", b"a2 and more")])
    record = next(path for path in (folder.parent / "journal").iterdir() if path.name == "1")
    (record / "done").unlink()
    staged = next(path for path in (record / "plan").read_text().split('"') if path.endswith(".tmp"))
    Path(staged).write_bytes(b"a2 and more")
    (folder / "a").write_bytes(b"mine")
    journal.recover()
    assert tree(folder) == {"a": b"mine", "b": b"b1", "other": b"mine"}


def test_a_damaged_plan_is_moved_aside_and_edits_go_on(journal: Journal, folder: Path, tmp_path: Path) -> None:
    journal.apply([FileWrite(folder / "a", b"a1", b"a2")])
    for number in range(4):
        newest = max(int(path.name) for path in (tmp_path / "journal").glob("[0-9]*"))
        (tmp_path / "journal" / str(newest) / "plan").write_bytes(b"\xff no plan")
        (tmp_path / "journal" / str(newest) / "done").unlink()
        before = (folder / "b").read_bytes()
        journal.apply([FileWrite(folder / "b", before, b"b%d" % number)])
        assert (folder / "b").read_bytes() == b"b%d" % number
    assert len(list((tmp_path / "journal").glob("ruined-*"))) == 2
    assert journal.undo() == [folder / "b"]
