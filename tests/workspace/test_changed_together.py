"""Which files changed together, from a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from laconic.workspace.changed_together import read_commit_files


def commit(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, "commit", "-qm", "change"], cwd=root, check=True)


def test_commits_of_several_files_are_told_latest_first_and_sweeps_are_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, {"a.py": "1", "tests/test_ä b.py": "1"})
    commit(tmp_path, {"a.py": "2"})
    commit(tmp_path, {f"many/{n}.py": "1" for n in range(50)})
    commit(tmp_path, {"a.py": "3", "c.py": "1"})
    assert read_commit_files(tmp_path) == [["a.py", "c.py"], ["a.py", "tests/test_ä b.py"]]
    assert read_commit_files(tmp_path, "HEAD^") == [["a.py", "tests/test_ä b.py"]]


def test_without_history_nothing_is_told(tmp_path: Path) -> None:
    assert read_commit_files(tmp_path) == []
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert read_commit_files(tmp_path) == []
    assert read_commit_files(tmp_path, "--output=x") == []
