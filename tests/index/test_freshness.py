"""A query sees every change without being told: by events where the system sends them, by looking elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from laconic.index.freshness import Freshness
from laconic.index.store import Store
from laconic.index.text_search import TextQuery, find
from laconic.index.workspace_index import Index
from laconic.workspace.folder_watch import FolderWatch, folders_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="events without a thread exist on Linux only")


@pytest.fixture
def warm(index: Index) -> Index:
    """An index that has settled: from now on it listens."""
    index.build()
    for _ in range(3):
        index.refresh()
    return index


def having(index: Index, text: str) -> list[str]:
    index.refresh()
    return [file.path for file in find(index.store, index.root, TextQuery(text)).files]


@linux
def test_a_changed_file_is_right_at_once(warm: Index, root: Path) -> None:
    (root / "a.txt").write_text("elephant\n")
    assert having(warm, "elephant") == ["a.txt"]
    (root / "a.txt").write_text("tortoise\n")
    assert having(warm, "elephant") == []


@linux
def test_new_renamed_and_deleted_files(warm: Index, root: Path) -> None:
    (root / "new.txt").write_text("elephant\n")
    assert having(warm, "elephant") == ["new.txt"]
    (root / "new.txt").rename(root / "renamed.txt")
    assert having(warm, "elephant") == ["renamed.txt"]
    (root / "renamed.txt").unlink()
    assert having(warm, "elephant") == []


@linux
def test_folders_that_come_move_and_go(warm: Index, root: Path) -> None:
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/x.txt").write_text("elephant\n")
    assert having(warm, "elephant") == ["deep/er/x.txt"]
    (root / "deep").rename(root / "moved")
    assert having(warm, "elephant") == ["moved/er/x.txt"]
    (root / "moved/er/x.txt").write_text("tortoise\n")
    assert having(warm, "tortoise") == ["moved/er/x.txt"]
    shutil.rmtree(root / "moved")
    assert having(warm, "tortoise") == []


@linux
def test_a_new_file_that_git_ignores_stays_out(warm: Index, root: Path) -> None:
    (root / "ignored.txt").write_text("elephant\n")
    assert having(warm, "elephant") == []
    (root / ".gitignore").write_text("")
    assert having(warm, "elephant") == ["ignored.txt"]


@linux
def test_an_ignored_file_that_changes_all_the_time_costs_one_look(index: Index, root: Path) -> None:
    index.build()
    fresh = Freshness(index.store, root, clock=lambda: 1.0)
    for _ in range(3):
        fresh.changes()
    (root / "ignored.txt").write_text("once")
    fresh.changes()
    other = Store.open(index.store.path, root)
    with other.writing():
        other.drop(["a.txt"])  # a look would find that this file is missing from the index
    other.close()
    (root / "ignored.txt").write_text("twice")
    assert len(fresh.changes()) == 0
    fresh.close()


@linux
def test_a_branch_switch_while_listening(warm: Index, root: Path, git: Callable[..., None]) -> None:
    git("checkout", "-b", "side")
    (root / "a.txt").write_text("elephant\n")
    git("commit", "-am", "side")
    assert having(warm, "elephant") == ["a.txt"]
    git("checkout", "main")
    assert having(warm, "elephant") == []
    git("checkout", "side")
    assert having(warm, "elephant") == ["a.txt"]


@linux
def test_quiet_costs_no_look_at_the_disk(warm: Index) -> None:
    """While nothing happens, nothing is listed: the changes come from events alone."""
    fresh = Freshness(warm.store, warm.root, clock=lambda: 1.0)
    for _ in range(3):
        fresh.changes()
    other = Store.open(warm.store.path, warm.root)
    with other.writing():
        other.drop(["a.txt"])  # a look would find that this file is missing from the index
    other.close()
    assert len(fresh.changes()) == 0
    fresh.again()
    assert [item.path for item in fresh.changes().suspects] == ["a.txt"]
    fresh.close()


def test_without_events_the_disk_is_looked_at_again_after_a_pause(index: Index, root: Path) -> None:
    index.build()
    now = [100.0]
    fresh = Freshness(index.store, root, clock=lambda: now[0], listen=False)
    assert len(fresh.changes()) == 0
    (root / "a.txt").write_text("elephant\n")
    assert len(fresh.changes()) == 0
    now[0] += 100.0
    assert [item.path for item in fresh.changes().suspects] == ["a.txt"]
    fresh.close()


@linux
def test_the_watcher_brings_changes_in_by_itself(warm: Index, root: Path) -> None:
    warm.watch()
    (root / "a.txt").write_text("elephant\n")
    for _ in range(200):
        found = find(warm.store, warm.root, TextQuery("elephant"))
        candidates = warm.store.connection.execute("SELECT count(*) FROM texts WHERE texts MATCH 'eph'").fetchone()
        if candidates == (1,):
            break
        time.sleep(0.05)
    assert [file.path for file in found.files] == ["a.txt"]


@linux
def test_events_name_files_and_not_what_is_not_watched(tmp_path: Path) -> None:
    (tmp_path / "in/deeper").mkdir(parents=True)
    watch = FolderWatch.open(tmp_path)
    assert watch is not None
    assert watch.add(["", "in"])
    assert not watch.add(["in"])
    (tmp_path / "in/x").write_text("1")
    (tmp_path / "in/deeper/y").write_text("1")
    heard = watch.take_events()
    assert heard.paths == {"in/x"}
    assert not heard.lost
    assert not watch.take_events().paths
    (tmp_path / "other").mkdir()
    assert watch.take_events().lost
    watch.close()


def test_folders_on_the_way_to_files() -> None:
    assert folders_of(["a/b/c.py", "a/d.py", "e.py"]) == {"", "a", "a/b"}
