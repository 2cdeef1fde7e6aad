"""The folder that stands for a repository follows it, and goes with whoever holds it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from laconic.workspace.clean_git_dir import CleanGitDir
from laconic.workspace.repository import Repository, find_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_text("x = 1\n")
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    found = find_repository(tmp_path, lambda _: ())
    assert found is not None
    return found


def test_it_has_what_the_repository_has_and_none_of_its_configuration(repository: Repository) -> None:
    config = repository.common_dir / "config"
    config.write_text(config.read_text() + "[core]\n\tpager = evil\n\tautocrlf = input\n\teol = $(evil)\n")
    clean = CleanGitDir(repository)
    folder = clean.update(index=True)
    assert (folder / "index").read_bytes() == (repository.git_dir / "index").read_bytes()
    assert (folder / "HEAD").read_text() == "ref: refs/heads/main\n"
    told = (folder / "config").read_text()
    assert "evil" not in told
    assert "autocrlf = input" in told


def test_it_follows_every_change(repository: Repository) -> None:
    clean = CleanGitDir(repository)
    folder = clean.update(index=True)
    (repository.git_dir / "HEAD").write_text("ref: refs/heads/next\n")
    (repository.git_dir / "ORIG_HEAD").write_text("0" * 40)
    (repository.git_dir / "info" / "exclude").write_text("*.log\n")
    (repository.git_dir / "index").unlink()
    assert clean.update(index=True) == folder
    assert (folder / "HEAD").read_text() == "ref: refs/heads/next\n"
    assert (folder / "ORIG_HEAD").exists()
    assert (folder / "info" / "exclude").read_text() == "*.log\n"
    assert not (folder / "index").exists()
    (repository.git_dir / "ORIG_HEAD").unlink()
    clean.update(index=True)
    assert not (folder / "ORIG_HEAD").exists()


def test_it_is_made_again_when_somebody_cleaned_up_and_goes_at_the_end(repository: Repository) -> None:
    clean = CleanGitDir(repository)
    folder = clean.update(index=True)
    shutil.rmtree(folder.parent)
    assert (clean.update(index=True) / "index").exists()
    del clean
    assert not folder.parent.exists()
