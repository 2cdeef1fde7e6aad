"""A writer that dies leaves a good index; the next one ends with the same rows."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from laconic.config import child_environment
from laconic.index.workspace_index import Index


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    for number in range(500):
        file = folder / f"part{number % 20}" / f"m{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"class C{number}:\n    def method_{number}(self):\n        return C{number - 1}()\n" * 5)
    return folder


def start(code: Path, cache: Path) -> subprocess.Popen[bytes]:
    """`laconic index` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "laconic", "index", str(code)],
        env=child_environment({"LACONIC_CACHE_DIR": str(cache)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def fingerprint(code: Path, cache: Path) -> str:
    index = Index.open(code, cache)
    try:
        index.build(seconds=30)
        return index.store.fingerprint()
    finally:
        index.close()


def test_a_killed_build_is_completed_by_the_next(code: Path, tmp_path: Path) -> None:
    wanted = fingerprint(code, tmp_path / "whole")
    moments = random.Random(7)
    for _ in range(4):
        child = start(code, tmp_path / "cache")
        time.sleep(moments.uniform(0.1, 1.2))
        child.kill()
        child.wait()
    assert fingerprint(code, tmp_path / "cache") == wanted


def test_two_processes_share_one_index(code: Path, tmp_path: Path) -> None:
    children = [start(code, tmp_path / "cache") for _ in range(2)]
    index = Index.open(code, tmp_path / "cache")
    while any(child.poll() is None for child in children):
        assert all(file.state == "parsed" for file in index.store.files())
        time.sleep(0.05)
    assert sorted(child.wait() for child in children) in ([0, 0], [0, 2])  # 2: told that another one writes
    index.close()
    assert fingerprint(code, tmp_path / "cache") == fingerprint(code, tmp_path / "whole")
