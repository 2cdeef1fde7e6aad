"""The tasks that ship with the benchmarks: commits of this repository, measured on a fresh clone without naming data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest

from laconic.cli.main import main
from laconic.errors import Unreadable
from laconic_benchmarks.corpus import SAMPLES
from laconic_benchmarks.localisation import Task, definition
from laconic_benchmarks.report import Options
from laconic_benchmarks.snapshot import THIS_REPOSITORY, clone_of

ROOT = Path(__file__).resolve().parents[2]
TASKS = [
    msgspec.json.decode(line, type=Task)
    for line in (SAMPLES / "localisation" / "public.jsonl").read_bytes().splitlines()
]


def test_each_function_of_a_task_is_where_the_task_says() -> None:
    for task in TASKS:
        assert task.mirror == THIS_REPOSITORY
        for function in task.functions:
            lines = _show(task.parent_sha, function.path).split("\n")
            assert f"def {function.name}(" in lines[definition(function, lines) - 1], (task.id, function)


def test_each_changed_range_is_inside_its_file() -> None:
    for task in TASKS:
        for file in task.files:
            count = len(_show(task.parent_sha, file.path).split("\n"))
            for start, end in file.edits:
                assert 1 <= start <= end <= count + 1, (task.id, file)


def test_turns_are_measured_without_naming_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("LACONIC_BENCH_DATA", raising=False)
    monkeypatch.delenv("LACONIC_BENCH_MIRROR", raising=False)
    main(["bench", "turns", "--tasks", "1", "--json"])
    report = msgspec.json.decode(capsys.readouterr().out)
    assert report["corpus"] == "1 localisation tasks of 1 repositories"
    policies = {row["policy"] for row in report["rows"] if row["tasks"] == "all"}
    assert len(policies) == 4


def test_other_tasks_still_need_their_clones(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"bench\.mirror"):
        clone_of("owner+name", Options(data="", cache="", mirror=str(tmp_path / "nowhere")))


def _show(commit: str, path: str) -> str:
    words = ["git", "-C", str(ROOT), "show", f"{commit}:{path}"]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout
