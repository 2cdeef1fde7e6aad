"""Questions about a commit that is not checked out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.index import catalog, commit_trees
from laconic.index.workspace_index import Index
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

_OLD = "def total(items):\n    return old_sum(items)\n\n\ndef old_sum(items):\n    return 0\n"


def _git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path, tag: str) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", tag)
    _git(folder, "tag", tag)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    _git(folder, "init", "-q")
    (folder / "money.py").write_text(
        "def total(items):\n    return old_sum(items)\n\n\ndef old_sum(items):\n    return 0\n"
    )
    (folder / "same.py").write_text("def stays():\n    return 1\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    _commit(folder, "v1")
    (folder / "money.py").write_text("def total(items):\n    return sum(items)\n")
    _commit(folder, "v2")
    return folder


@pytest.fixture
def runtime(repository: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(repository, settings, tools())
    opened.index.build()
    yield opened
    opened.close()


def test_a_symbol_that_is_gone_is_found_at_the_commit_that_has_it(runtime: ToolRuntime, repository: Path) -> None:
    assert "old_sum" not in runtime.call("search", {"query": "old_sum"}).text.partition(";")[2]
    text = runtime.call("search", {"query": "old_sum", "at": "v1"}).text
    assert text.startswith("v1:money.py\n")
    assert "def old_sum(items):" in text
    assert not (repository / ".git" / "index.lock").exists()
    assert "old_sum" not in (repository / "money.py").read_text(), "nothing was checked out"


def test_all_tools_answer_about_a_commit(runtime: ToolRuntime) -> None:
    assert "v1:money.py 2 total" in runtime.call("inspect", {"symbol": "old_sum", "at": "v1"}).text
    assert "1 total v1:money.py:1" in runtime.call("trace", {"symbol": "old_sum", "at": "v1"}).text
    assert "return old_sum(items)" in runtime.call("read", {"targets": "money.py", "at": "v1"}).text
    assert "return sum(items)" in runtime.call("read", {"targets": "money.py", "again": True}).text
    assert "old_sum" in runtime.call("context", {"task": "old_sum of the items is wrong", "at": "v1"}).text
    assert "same.py" in runtime.call("map", {"at": "v1"}).text


def test_what_a_commit_shares_with_the_checkout_is_parsed_once(runtime: ToolRuntime) -> None:
    versions = len(list(runtime.index.store.all_versions()))
    runtime.call("search", {"query": "old_sum", "at": "v1"})
    assert len(list(runtime.index.store.all_versions())) == versions + 1, "only money.py differs"


def test_a_link_in_a_commit_is_not_followed(runtime: ToolRuntime) -> None:
    runtime.call("search", {"query": "old_sum", "at": "v1"})
    kept = list(catalog.commit_folder(runtime.cache, runtime.root, "x").parent.glob("*/link.py"))
    assert kept == []
    assert "root:" not in runtime.call("read", {"targets": "link.py", "at": "v1"}).text


def test_a_commit_is_no_workspace_of_its_own(runtime: ToolRuntime) -> None:
    runtime.call("search", {"query": "old_sum", "at": "v1"})
    assert "commits" not in runtime.call("workspace", {"action": "list"}).text


def test_an_unknown_commit_is_answered_with_how_to_find_one(runtime: ToolRuntime) -> None:
    reply = runtime.call("search", {"query": "old_sum", "at": "v9"})
    assert reply.failed
    assert "No commit or branch named 'v9'" in reply.text


def test_few_commits_are_kept(repository: Path, settings: Settings) -> None:
    cache = settings.cache_dir()
    Index.open(repository, cache).close()
    for number in range(9):
        (repository / "same.py").write_text(f"def stays():\n    return {number}\n")
        _commit(repository, f"n{number}")
    runtime = ToolRuntime(repository, settings, tools())
    try:
        for number in range(9):
            assert f"return {number}" in runtime.call("read", {"targets": "same.py", "at": f"n{number}"}).text
        folder = catalog.commit_folder(cache, repository, "x").parent
        assert len(list(folder.iterdir())) == commit_trees.KEPT
        assert "return 0" in runtime.call("read", {"targets": "same.py", "at": "n0", "again": True}).text
    finally:
        runtime.close()
