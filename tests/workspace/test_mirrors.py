"""Mirrors follow their remotes, and folders of plain files follow mirrors, also after a crash in the middle."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.organisation.git_sources import commit, make_source

from laconic.errors import CommandFailed
from laconic.workspace.mirrors import fetch_mirror, list_blob_ids, update_folder


def _read(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_text("utf-8")
    return found


def test_a_folder_follows_its_mirror(tmp_path: Path) -> None:
    source = make_source(tmp_path / "source", {"a.py": "1", "b/c.py": "2", "d": "3"})
    mirror, folder = tmp_path / "mirror.git", tmp_path / "files"
    first = fetch_mirror(mirror, str(source))
    update_folder(mirror, folder, first, ("", ""))
    assert _read(folder) == {"a.py": "1", "b/c.py": "2", "d": "3"}
    kept = (folder / "a.py").stat().st_ino
    commit(source, {"d/e.py": "4", "b/f.py": "5"}, removed=("b/c.py", "d"))
    second = fetch_mirror(mirror, str(source))
    update_folder(mirror, folder, second, (first, ""))
    assert _read(folder) == {"a.py": "1", "b/f.py": "5", "d/e.py": "4"}
    assert (folder / "a.py").stat().st_ino == kept  # what did not change is not written again
    assert set(list_blob_ids(mirror, first)) & set(list_blob_ids(mirror, second))


def test_a_crash_between_two_commits_leaves_nothing_of_the_middle_one(tmp_path: Path) -> None:
    source = make_source(tmp_path / "source", {"a.py": "1", "b.py": "1"})
    mirror, folder = tmp_path / "mirror.git", tmp_path / "files"
    first = fetch_mirror(mirror, str(source))
    update_folder(mirror, folder, first, ("", ""))
    commit(source, {"a.py": "middle", "extra.py": "middle"})
    middle = fetch_mirror(mirror, str(source))
    update_folder(mirror, folder, middle, (first, ""))  # and then the worker dies before it says so
    commit(source, {"a.py": "1"}, removed=("extra.py",))
    last = fetch_mirror(mirror, str(source))
    update_folder(mirror, folder, last, (first, middle))
    assert _read(folder) == {"a.py": "1", "b.py": "1"}


def test_history_that_was_rewritten_is_followed(tmp_path: Path) -> None:
    mirror, folder = tmp_path / "mirror.git", tmp_path / "files"
    first = fetch_mirror(mirror, str(make_source(tmp_path / "one", {"a.py": "1"})))
    update_folder(mirror, folder, first, ("", ""))
    other = fetch_mirror(mirror, str(make_source(tmp_path / "two", {"b.py": "2"})))
    update_folder(mirror, folder, other, (first, ""))
    assert _read(folder) == {"b.py": "2"}
    update_folder(mirror, folder, first, ("0" * 40, ""))  # a commit that nobody has: begin anew
    assert _read(folder) == {"a.py": "1"}


def test_an_address_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="could not fetch"):
        fetch_mirror(tmp_path / "mirror.git", str(tmp_path / "nothing"))
    with pytest.raises(CommandFailed):
        fetch_mirror(tmp_path / "mirror.git", "ext::sh -c touch% " + str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
