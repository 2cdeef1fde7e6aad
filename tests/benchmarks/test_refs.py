"""The truth that we wrote ourselves is usable, and repositories are laid out from their clones."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from laconic.errors import CommandFailed, Unreadable
from laconic_benchmarks.corpus import snapshot

DATA = json.loads((files("laconic_benchmarks") / "data" / "refs.json").read_text("utf-8"))


@pytest.mark.parametrize("symbol", DATA["symbols"], ids=lambda each: f"{each['corpus']}-{each['name']}")
def test_each_line_of_a_symbol_is_true_or_false_or_neither(symbol: dict[str, dict[str, list[int]]]) -> None:
    kinds = [
        {(path, line) for path, lines in symbol[kind].items() for line in lines}
        for kind in ("true", "false", "neutral")
    ]
    assert kinds[0]
    assert sum(map(len, kinds)) == len(set.union(*kinds))
    assert symbol["corpus"] in DATA["corpora"]


def test_there_is_truth_for_four_more_languages() -> None:
    suffixes = [Path(symbol["file"]).suffix for symbol in DATA["symbols"]]
    assert {".java", ".go", ".rs", ".ts", ".js"} <= set(suffixes)
    assert len(suffixes) >= 20


def test_a_repository_is_laid_out_at_a_commit(tmp_path: Path) -> None:
    bare, work = tmp_path / "mirror" / "some+one" / "repo", tmp_path / "work"
    work.mkdir()
    (work / "folder").mkdir()
    (work / "folder" / "a.txt").write_text("one\n", "utf-8")
    (work / "large.txt").write_text("x" * 1_000_001, "utf-8")
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(bare)], check=True)
    laid = snapshot("some/one", "HEAD", tmp_path / "mirror", tmp_path / "cache")
    assert [path.relative_to(laid).as_posix() for path in laid.rglob("*") if path.is_file()] == ["folder/a.txt"]
    assert snapshot("some/one", "HEAD", tmp_path / "nowhere", tmp_path / "cache") == laid
    with pytest.raises(CommandFailed):
        snapshot("some/one", "0" * 40, tmp_path / "mirror", tmp_path / "cache")
    with pytest.raises(Unreadable):
        snapshot("some/other", "HEAD", tmp_path / "mirror", tmp_path / "cache")
