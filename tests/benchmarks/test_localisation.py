"""The localisation benchmark lays out commits from a bare clone and counts what the list really printed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from laconic.errors import Unreadable
from laconic_benchmarks import localisation
from laconic_benchmarks.report import Options
from laconic_benchmarks.snapshot import Snapshot, with_clones

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, list[str]]:
    """A folder of bare clones with one repository of two commits."""
    work = tmp_path / "work"
    work.mkdir()

    def git(*args: str, cwd: Path = work) -> str:
        return subprocess.run(["git", *IDENTITY, *args], cwd=cwd, check=True, capture_output=True, text=True).stdout

    git("init")
    (work / "bill.py").write_text("def round_total(total):\n    cents = total\n    return cents\n")
    (work / "old.py").write_text("def unused():\n    x = 1\n    return x\n")
    (work / "image.bin").write_bytes(b"\0\1")
    git("add", ".")
    git("commit", "-m", "one")
    (work / "old.py").unlink()
    (work / "bill.py").write_text("def round_total(total):\n    return total\n")
    git("add", ".")
    git("commit", "-m", "two")
    mirror = tmp_path / "mirror"
    (mirror / "own+er").mkdir(parents=True)
    git("clone", "--bare", str(work), str(mirror / "own+er" / "repo"), cwd=tmp_path)
    return mirror, git("log", "--format=%H").split()


def test_a_snapshot_follows_from_commit_to_commit(clones: tuple[Path, list[str]], tmp_path: Path) -> None:
    mirror, (second, first) = clones
    snapshot = Snapshot(mirror / "own+er" / "repo", tmp_path / "shown")
    snapshot.show(first)
    assert sorted(path.name for path in snapshot.folder.iterdir()) == ["bill.py", "old.py"]
    assert snapshot.lines("bill.py")[1] == "    cents = total"
    snapshot.show(second)
    assert [path.name for path in snapshot.folder.iterdir()] == ["bill.py"]
    assert snapshot.lines("bill.py")[1] == "    return total"
    assert snapshot.lines("old.py") == []


def test_a_function_counts_when_its_definition_was_printed(clones: tuple[Path, list[str]], tmp_path: Path) -> None:
    mirror, (_, first) = clones
    rounding = {"path": "bill.py", "name": "round_total", "start": 1, "end": 3}
    absent = {"path": "bill.py", "name": "nothing", "start": 40, "end": 43}
    task = {
        **{"id": "1", "family": "commit", "mirror": "own+er", "parent_sha": first, "query": "rounding of the total"},
        **{"functions": [rounding, absent], "flags": {"leak_path": False}},
    }
    (tmp_path / "localisation").mkdir()
    (tmp_path / "localisation" / "public.jsonl").write_text(json.dumps(task) + "\n")
    report = localisation.run(Options(str(tmp_path), str(tmp_path / "cache"), (str(mirror),)))
    assert report.rows[0]["1000 tokens"] == 0.5
    assert report.rows[0]["n"] == 1


@pytest.mark.feature("C13")
def test_tasks_of_repositories_that_are_not_here_are_left_aside(
    clones: tuple[Path, list[str]], tmp_path: Path
) -> None:
    heard: list[str] = []

    def hear(said: str) -> None:
        heard.append(said)

    options = Options(str(tmp_path), str(tmp_path / "cache"), (str(clones[0]),), progress=hear)
    assert list(with_clones({"own+er": ["one"], "not+here": ["two"]}, options)) == ["own+er"]
    assert heard == ["left aside: no clone of not+here in the folder of clones"]
    with pytest.raises(Unreadable, match=r"There is no clone of not\+here"):
        with_clones({"not+here": ["two"]}, options)
