"""Folders that are as they were are passed over, and nothing that changed is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from laconic.index.build import BuildResult, build
from laconic.index.folder_states import look_at_folders
from laconic.index.parse_files import FileParser
from laconic.index.workspace_index import Index
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles

LATER = 10_000_000_000  # nanoseconds: files are old when they are looked at


def _now() -> int:
    return time.time_ns() + LATER


def _build(index: Index, clock: Callable[[], int] = _now) -> BuildResult:
    """As later: what was just written is old enough to be known by its times."""
    time.sleep(0.02)  # longer than a tick of the file system's clock
    done = build(index.store, index.root, FileParser(), lambda done, total: None, clock=clock)
    time.sleep(0.02)
    return done


def _unchanged(index: Index, secrets: SecretFiles = NO_EXCEPTIONS) -> set[str]:
    return set(look_at_folders(index.store, index.root, secrets, _now()).unchanged)


@pytest.fixture
def tree(root: Path) -> Path:
    for name in ("", "one/", "two/", "two/deep/"):
        (root / name).mkdir(exist_ok=True)
        for number in range(3):
            (root / f"{name}code_{number}.py").write_text(f"def handle_{number}():\n    return {number}\n")
    return root


def test_what_is_as_it_was_is_passed_over(index: Index, tree: Path) -> None:
    assert _unchanged(index) == set()
    _build(index)
    assert _unchanged(index) == {"", "one", "two", "two/deep"}
    (tree / "two" / "code_1.py").write_text("def other():\n    return 1\n")
    assert _unchanged(index) == {"", "one", "two/deep"}


def test_files_that_were_just_written_are_looked_at_again(index: Index, tree: Path) -> None:
    """A second write within a tick of the clock may leave size and time as they are."""
    written = min(file.stat().st_ctime_ns for file in tree.rglob("*.py"))
    _build(index, clock=lambda: written)
    assert _unchanged(index) == set()


def test_other_rules_for_secrets_and_a_lost_row_count(index: Index, tree: Path) -> None:
    _build(index)
    assert _unchanged(index, SecretFiles(("*.pem",))) == set()
    with index.store.writing():
        index.store.drop(["one/code_1.py"])
    assert _unchanged(index) == set()
    assert _build(index).written == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("in_git", [True, False])
def test_after_any_changes_the_index_is_that_of_a_new_build(
    index: Index, tree: Path, tmp_path: Path, seed: int, in_git: bool
) -> None:
    if not in_git:
        (tree / ".git").rename(tmp_path / "no-git")
    random = Random(seed)
    _build(index)
    for step in range(12):
        for _ in range(random.randrange(3)):
            _change(tree, random, step)
        _build(index)
        fresh = Index.in_memory(tree)
        fresh.build()
        assert index.store.fingerprint() == fresh.store.fingerprint(), step
        fresh.close()


def _change(tree: Path, random: Random, step: int) -> None:
    """One change of the kinds that happen."""
    files = sorted(path for path in tree.rglob("*.py") if ".git" not in path.parts)
    folders = sorted(path for path in tree.rglob("*") if path.is_dir() and ".git" not in path.parts)
    file, folder = random.choice(files), random.choice([tree, *folders])
    kind = random.randrange(8)
    if kind == 0:
        before = file.stat()  # the same size and time of writing
        file.write_text("".join(reversed(file.read_text())))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif kind == 1:
        (folder / f"new_{step}.py").write_text(f"def new_{step}():\n    pass\n")
    elif kind == 2 and len(files) > 3:
        file.unlink()
    elif kind == 3:
        file.rename(file.with_name(f"moved_{step}.py"))
    elif kind == 4 and folders:
        random.choice(folders).rename(tree / f"folder_{step}")
    elif kind == 5:
        (tree / ".gitignore").write_text(f"{file.name}\n")
    elif kind == 6 and not (tree / f"link_{step}.py").exists():
        (tree / f"link_{step}.py").symlink_to(file)
    else:
        os.utime(file, (1, 1))


def test_a_young_folder_that_goes_away_takes_its_files_along(index: Index, tree: Path) -> None:
    """It was never remembered, and the folders that were are all as before."""
    _build(index)
    young = tree / "young" / "short_lived.py"
    young.parent.mkdir()
    young.write_text("def short_lived():\n    pass\n")
    tomorrow = time.time() + 86_400
    os.utime(young, (tomorrow, tomorrow))
    _build(index)
    assert index.store.file("young/short_lived.py")
    young.unlink()
    young.parent.rmdir()
    _build(index)
    assert not index.store.file("young/short_lived.py")
