"""Checkouts of one repository share an index: what one has parsed no other parses, and nobody sees another's code."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from laconic.index import catalog
from laconic.index.parse_files import FileParser, ParseJob
from laconic.index.prepared_file import HELD, PreparedFile
from laconic.index.workspace_index import Index

_FILES = 260  # more than one batch


class _Counting(FileParser):
    """Notes which files it has to parse, because no checkout has parsed them before."""

    parsed: list[str]

    def __new__(cls) -> _Counting:
        made = super().__new__(cls)
        object.__setattr__(made, "parsed", [])
        return made

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]:
        for file in super().prepare(root, jobs):
            if file.state != HELD:
                self.parsed.append(file.path)
            yield file


@pytest.fixture
def code(root: Path, git: Callable[..., None]) -> Path:
    for number in range(_FILES):
        (root / f"m{number:03}.py").write_text(f"def f{number}():\n    return g{number}()\n")
    git("add", ".")
    git("commit", "-m", "code")
    return root


@pytest.fixture
def cache(code: Path, tmp_path: Path) -> Path:
    with closing(Index.open(code, tmp_path / "cache")) as index:
        index.build()
    return tmp_path / "cache"


def _build(root: Path, cache: Path) -> tuple[Index, list[str]]:
    counting = _Counting()
    index = Index.open(root, cache, counting)
    index.build()
    return index, counting.parsed


def _names(index: Index, name: str) -> list[str]:
    return [symbol.name for symbol in index.store.symbols_named(name)]


def _scratch(root: Path, cache: Path) -> str:
    """What an index built from nothing holds."""
    with closing(Index.open(root, cache)) as index:
        index.build()
        return index.store.fingerprint()


def test_a_work_tree_parses_only_what_differs(
    code: Path, cache: Path, tmp_path: Path, git: Callable[..., None]
) -> None:
    other = tmp_path / "other"
    git("worktree", "add", "-b", "side", str(other))
    (other / "m007.py").write_text("def changed():\n    pass\n")
    (other / "new.py").write_text("def fresh():\n    pass\n")
    (other / "m008.py").unlink()
    index, parsed = _build(other, cache)
    with closing(index):
        assert sorted(parsed) == ["m007.py", "new.py"]
        assert (_names(index, "changed"), _names(index, "f7"), _names(index, "f8")) == (["changed"], [], [])
        assert [file for file, _ in index.store.mentions("g7")] == []
        assert index.store.fingerprint() == _scratch(other, tmp_path / "from-nothing")
    with closing(Index.open(code, cache)) as first:
        assert first.refresh() == ""
        assert (_names(first, "changed"), _names(first, "f7"), _names(first, "f8")) == ([], ["f7"], ["f8"])
        assert first.store.fingerprint() == _scratch(code, tmp_path / "from-nothing")


def test_clones_of_one_origin_share_what_they_have(code: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        subprocess.run(["git", "clone", "-q", str(code), str(tmp_path / name)], check=True)
    first, parsed = _build(tmp_path / "one", tmp_path / "cache")
    first.close()
    assert len(parsed) == _FILES + 4
    second, parsed = _build(tmp_path / "two", tmp_path / "cache")
    with closing(second):
        assert parsed == []
        assert _names(second, "f9") == ["f9"]


def test_a_branch_that_comes_back_is_not_parsed_again(code: Path, cache: Path, git: Callable[..., None]) -> None:
    git("checkout", "-b", "side")
    for number in range(50):
        (code / f"m{number:03}.py").write_text(f"def s{number}():\n    pass\n")
    git("commit", "-am", "side")
    index, parsed = _build(code, cache)
    assert len(parsed) == 50
    index.close()
    for branch, name in (("main", "f3"), ("side", "s3"), ("main", "f3")):
        git("checkout", branch)
        index, parsed = _build(code, cache)
        with closing(index):
            assert parsed == []
            assert (_names(index, "f3"), _names(index, "s3")) == ([name] * (name == "f3"), [name] * (name == "s3"))


def test_a_file_that_git_would_translate_is_read(
    code: Path, cache: Path, tmp_path: Path, git: Callable[..., None]
) -> None:
    """Git calls a file with other line ends unchanged: its bytes are others all the same."""
    other = tmp_path / "other"
    git("config", "core.autocrlf", "true")
    git("worktree", "add", "-b", "side", str(other))
    assert b"\r\n" in (other / "m001.py").read_bytes()
    index, parsed = _build(other, cache)
    with closing(index):
        assert "m001.py" in parsed
        assert index.store.fingerprint() == _scratch(other, tmp_path / "from-nothing")


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_is_told_to_call_unchanged_is_read(
    code: Path, cache: Path, tmp_path: Path, git: Callable[..., None], flag: str
) -> None:
    other = tmp_path / "other"
    git("worktree", "add", "-b", "side", str(other))
    subprocess.run(["git", "update-index", flag, "m007.py"], cwd=other, check=True)
    (other / "m007.py").write_text((other / "m007.py").read_text().replace("f7", "h7"))
    index, parsed = _build(other, cache)
    with closing(index):
        assert parsed == ["m007.py"]
        assert (_names(index, "h7"), _names(index, "f7")) == (["h7"], [])


def test_a_folder_whose_origin_changes_is_listed_once(code: Path, cache: Path, git: Callable[..., None]) -> None:
    for number in range(3):
        git("config", "remote.origin.url", f"https://example.org/team/code{number}.git")
        index, _ = _build(code, cache)
        with closing(index):
            assert _names(index, "f9") == ["f9"]
    assert [root for root, _ in catalog.workspaces(cache)] == [code]
    assert len(list((cache / "index").iterdir())) == 1


def test_one_checkout_is_forgotten_and_the_others_stay(
    code: Path, cache: Path, tmp_path: Path, git: Callable[..., None]
) -> None:
    other = tmp_path / "other"
    git("worktree", "add", "-b", "side", str(other))
    index, _ = _build(other, cache)
    index.close()
    assert sorted(root for root, _ in catalog.workspaces(cache)) == [code, other]
    catalog.forget(cache, other)
    assert [root for root, _ in catalog.workspaces(cache)] == [code]
    index, parsed = _build(code, cache)
    with closing(index):
        assert parsed == []
        assert _names(index, "f9") == ["f9"]
    catalog.forget(cache, code)
    assert list((cache / "index").iterdir()) == []


def test_a_work_tree_inside_the_repository_is_another_checkout(
    code: Path, cache: Path, git: Callable[..., None]
) -> None:
    git("worktree", "add", "-b", "side", str(code / "trees" / "side"))
    index, parsed = _build(code, cache)
    with closing(index):
        assert parsed == []
        assert len(index.store.symbols_named("f9")) == 1
    inner, parsed = _build(code / "trees" / "side", cache)
    with closing(inner):
        assert parsed == []
        assert len(inner.store.symbols_named("f9")) == 1


def test_what_nobody_holds_is_deleted_in_time(code: Path, cache: Path) -> None:
    """Old versions stay for a while, since branches come back, but not more of them than there are files."""
    index, _ = _build(code, cache)
    with closing(index):
        for turn in range(8):
            for number in range(_FILES):
                (code / f"m{number:03}.py").write_text(f"def f{number}_{turn}():\n    pass\n")
            index.build()
        assert len(index.store.unheld_versions()) <= 4 * _FILES
        assert index.store.fingerprint() == _scratch(code, cache.parent / "from-nothing")


def test_a_renamed_file_is_not_parsed_again(code: Path, cache: Path, tmp_path: Path) -> None:
    (code / "below").mkdir()
    (code / "m007.py").rename(code / "below" / "moved.py")
    (code / "m008.py").rename(code / "__init__.py")  # what it imports is exported there: other rows
    (code / "copy.py").write_bytes((code / "m009.py").read_bytes())
    (code / "m010.py").rename(code / "m010.txt")  # another language
    index, parsed = _build(code, cache)
    with closing(index):
        assert sorted(parsed) == ["__init__.py", "m010.txt"]
        (found,) = index.store.symbols_named("f7")
        assert index.store.file_by_id(found.file).path == "below/moved.py"  # type: ignore[union-attr]
        assert index.store.fingerprint() == _scratch(code, tmp_path / "scratch")


def test_a_moved_file_is_found_by_the_words_of_its_new_path(code: Path, cache: Path) -> None:
    (code / "m007.py").rename(code / "lighthouse.py")
    index, parsed = _build(code, cache)
    with closing(index):
        rows = index.store.connection.execute(
            "SELECT rowid >> 16 FROM words WHERE words MATCH 'lighthouse'"
        ).fetchall()
        assert not parsed
        assert {number for (number,) in rows} == {index.store.file("lighthouse.py").id}  # type: ignore[union-attr]
