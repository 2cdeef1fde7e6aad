"""Repositories of every kind are read right, although git never reads their configuration."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.errors import CommandFailed, Unreadable
from laconic.workspace.git import git, home, list_files, list_repositories_within, top, user_config
from laconic.workspace.revisions import changes, states


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user without a configuration, until a test writes one."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    user_config.cache_clear()
    yield place
    user_config.cache_clear()


def plain(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def repository(folder: Path, *options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    plain(folder, "init", "-q", "-b", "main", *options)
    (folder / "a.py").write_text("x = 1\n")
    plain(folder, "add", "-A")
    plain(folder, "commit", "-qm", "first")
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    plain(folder, "commit", "-qam", "second")
    return folder


def changed(folder: Path, wanted: str = "") -> dict[str, str]:
    return {change.path: change.status for change in changes(folder, states(folder, wanted))}


def test_a_linked_work_tree_has_its_own_head_and_index(tmp_path: Path) -> None:
    root = repository(tmp_path / "main")
    plain(root, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "topic", "HEAD~1")
    tree = tmp_path / "tree"
    (tree / "b.py").write_text("z = 1\n")
    plain(tree, "add", "b.py")
    assert changed(tree, "staged") == {"b.py": "added"}
    assert changed(root, "staged") == {}
    assert changed(tree, "main") == {"a.py": "changed", "b.py": "added"}
    assert changed(tree, "HEAD@{0}") == {"b.py": "added"}
    assert home(tree) == tree
    assert home(root) == root


def test_a_submodule_and_the_repository_around_it(tmp_path: Path) -> None:
    library, root = repository(tmp_path / "library"), repository(tmp_path / "root")
    plain(root, "submodule", "--quiet", "add", str(library), "module")
    plain(root, "commit", "-qm", "with a module")
    (root / "module" / "a.py").write_text("x = 3\n")
    assert changed(root) == {}  # what is uncommitted in a module is asked for there
    assert changed(root / "module") == {"a.py": "changed"}
    plain(root / "module", "commit", "-qam", "third")
    assert changed(root) == {"module": "changed"}
    assert top(root / "module") == root / "module"


def test_repositories_within_are_listed_and_plain_files_are_not(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    plain(root, "submodule", "add", "-q", str(repository(tmp_path / "library")), "parts/sub")
    repository(root / "other")
    (root / "untracked").mkdir()
    (root / "untracked" / "x.py").touch()
    assert sorted(list_repositories_within(root)) == [b"other", b"parts/sub"]
    assert list_repositories_within(tmp_path / "home") == []


def test_a_file_with_conflicts_is_unmerged_whatever_it_is_compared_with(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    plain(root, "checkout", "-q", "-b", "topic", "HEAD~1")
    (root / "a.py").write_text("x = 3\n")
    plain(root, "commit", "-qam", "other")
    with pytest.raises(subprocess.CalledProcessError):
        plain(root, "merge", "main")
    assert changed(root, "unstaged") == {"a.py": "unmerged"}
    assert changed(root, "staged") == {"a.py": "unmerged"}
    assert changed(root) == {"a.py": "changed"}


def test_a_git_folder_that_was_put_elsewhere_must_name_its_work_tree(tmp_path: Path) -> None:
    """Anybody can write a file that leads to it; only its owner can write into it."""
    root = repository(tmp_path / "root", "--separate-git-dir", str(tmp_path / "git"))
    (root / "a.py").write_text("x = 3\n")
    with pytest.raises(Unreadable, match="points outside the repository"):
        changed(root)
    plain(root, "config", "core.worktree", str(root))
    assert changed(root) == {"a.py": "changed"}


def test_objects_that_are_named_by_sha256(tmp_path: Path) -> None:
    root = repository(tmp_path / "root", "--object-format=sha256")
    assert changed(root, "HEAD^!") == {"a.py": "changed"}
    assert changed(root, "HEAD^^!") == {"a.py": "added"}
    assert list_files(root) == [b"a.py"]


def test_a_split_a_sparse_and_an_empty_index(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    (root / "far" / "off").mkdir(parents=True)
    (root / "far" / "off" / "c.py").write_text("c = 1\n")
    plain(root, "add", "-A")
    plain(root, "commit", "-qm", "third")
    plain(root, "update-index", "--split-index")
    assert list_files(root) == [b"a.py", b"far/off/c.py"]
    plain(root, "update-index", "--no-split-index")
    plain(root, "sparse-checkout", "set", "--cone", "--sparse-index", "near")
    assert not (root / "far").exists()
    assert changed(root) == {}
    (root / ".git" / "index").unlink()
    assert changed(root, "staged") == {"a.py": "removed", "far/off/c.py": "removed"}


def test_a_shallow_clone(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    plain(tmp_path, "clone", "-q", "--depth", "1", f"file://{source}", "root")
    assert changed(tmp_path / "root", "HEAD^!") == {"a.py": "added"}


def test_a_partial_clone_says_what_is_missing_and_fetches_nothing(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    plain(source, "config", "uploadpack.allowFilter", "true")
    plain(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{source}", "root")
    root = tmp_path / "root"
    (root / "a.py").write_text("x = 3\n")
    assert changed(root) == {"a.py": "changed"}
    packs = sorted((root / ".git" / "objects").rglob("*"))
    with pytest.raises(CommandFailed, match=r"lacks objects.*git fetch --refetch"):
        changed(root, "HEAD^!")
    assert sorted((root / ".git" / "objects").rglob("*")) == packs


def test_a_bare_repository_answers_about_commits(tmp_path: Path) -> None:
    plain(tmp_path, "clone", "-q", "--bare", str(repository(tmp_path / "source")), "bare")
    assert changed(tmp_path / "bare", "HEAD^!") == {"a.py": "changed"}
    assert top(tmp_path / "bare") is None


def test_line_ends_are_compared_as_the_repository_says(tmp_path: Path, own_home: Path) -> None:
    """Files that an editor saved again: as they were, but for what git makes of their line ends."""
    root = repository(tmp_path / "root")
    (root / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    assert changed(root) == {"a.py": "changed"}
    plain(root, "config", "core.autocrlf", "true")
    assert changed(root) == {}
    plain(root, "config", "--unset", "core.autocrlf")
    (own_home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n")
    user_config.cache_clear()
    assert changed(root) == {}
    plain(root, "config", "core.autocrlf", "false")
    assert changed(root) == {"a.py": "changed"}


def test_only_the_user_names_more_ignore_rules(tmp_path: Path, own_home: Path) -> None:
    root = repository(tmp_path / "root")
    for name in ("one.log", "two.tmp", "three.bak"):
        (root / name).write_text("x\n")
    (tmp_path / "rules").write_text("*.py\n*.bak\n")
    plain(root, "config", "core.excludesFile", str(tmp_path / "rules"))
    (root / ".git" / "info" / "exclude").write_text("*.log\n")
    (own_home / ".gitconfig").write_text("[include]\n\tpath = more\n")
    (own_home / "more").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (own_home / "ignored").write_text("*.tmp\n")
    user_config.cache_clear()
    assert list_files(root) == [b"three.bak", b"a.py"]


def test_a_file_of_git_lfs_has_changed_only_if_its_content_has(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    content = b"large\n" * 100
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(content).hexdigest()}\n"
    (root / "a.dat").write_text(f"{pointer}size {len(content)}\n")
    (root / ".gitattributes").write_text("*.dat filter=lfs diff=lfs merge=lfs -text\n")
    plain(root, "add", "-A")
    plain(root, "commit", "-qm", "large")
    (root / "a.dat").write_bytes(content)
    assert changed(root) == {}
    (root / "a.dat").write_bytes(content + b"more\n")
    assert changed(root) == {"a.dat": "changed"}


def test_asking_changes_nothing_in_the_repository(tmp_path: Path) -> None:
    """Not even the index, which git brings up to date when it compares."""
    root = repository(tmp_path / "root")
    os.utime(root / "a.py", (1, 1))
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}
    assert changed(root) == {}
    assert list_files(root) == [b"a.py"]
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before


def test_variables_that_steer_git_do_not_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a hook, where git tells its children which repository it works on."""
    root, other = repository(tmp_path / "root"), repository(tmp_path / "other")
    (root / "a.py").write_text("x = 3\n")
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(tmp_path / "none"),
        "GIT_EXTERNAL_DIFF": f"touch {tmp_path / 'sprung'}; true",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.external",
        "GIT_CONFIG_VALUE_0": f"touch {tmp_path / 'sprung'}; true",
    }.items():
        monkeypatch.setenv(name, value)
    assert changed(root) == {"a.py": "changed"}
    assert not (tmp_path / "sprung").exists()


def test_borrowed_objects_are_read_when_the_user_trusts_the_repository(tmp_path: Path, own_home: Path) -> None:
    source = repository(tmp_path / "source")
    plain(tmp_path, "clone", "-q", "--shared", str(source), "root")
    root = tmp_path / "root"
    with pytest.raises(Unreadable, match=rf"alternates points outside.*safe\.directory {root}"):
        changed(root, "HEAD^!")
    assert list_files(root) is None
    (own_home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {root}\n")
    user_config.cache_clear()
    assert changed(root, "HEAD^!") == {"a.py": "changed"}


def test_every_command_that_reads_works_without_an_option_of_ours(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    assert b"+y = 2" in git(root, "diff", "HEAD~1", "HEAD")
    assert git(root, "log", "--format=%s") == b"second\nfirst\n"
    assert b"+y = 2" in git(root, "show", "HEAD")


def test_a_work_tree_that_somebody_configured_is_not_taken(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    plain(root, "config", "core.worktree", "/etc")
    assert home(root) == root
    assert list_files(root) == [b"a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_that_somebody_else_put_above_a_folder_is_not_taken(tmp_path: Path) -> None:
    shared = repository(tmp_path / "shared")
    own = shared / "mine"
    own.mkdir()
    assert home(own) == shared
    os.chown(shared / ".git", 12345, 12345)
    assert home(own) == own
    os.chown(own, 12345, 12345)
    assert home(own) == shared  # whoever owns the folder owns the repository


def test_an_extension_that_is_not_understood_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    plain(root, "config", "core.repositoryFormatVersion", "1")
    with (root / ".git" / "config").open("a") as file:
        file.write("[extensions]\n\trefStorage = reftable\n")
    with pytest.raises(Unreadable, match="extension 'refstorage'"):
        git(root, "rev-parse", "HEAD")


@pytest.mark.parametrize("text", ["", "gitdir: nowhere\n", "gitdir: \0\n", "gitdir: " + "a/" * 5000, "what\n"])
def test_a_git_file_that_leads_nowhere(tmp_path: Path, text: str) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / ".git").write_text(text)
    assert home(tmp_path / "root") == tmp_path / "root"
    assert list_files(tmp_path / "root") is None


@pytest.mark.parametrize(
    "name",
    [
        "packed-refs",
        "index",
        "objects/info/alternates",
        "objects/info/commit-graph",
        "objects/pack/p.idx",
        "refs/heads/x",
        "logs/HEAD",
    ],
)
def test_git_does_not_wait_for_a_pipe(tmp_path: Path, name: str) -> None:
    """An archive can hold pipes; whoever opens one to read waits for a writer."""
    root = repository(tmp_path / "root")
    file = root / ".git" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(Unreadable, match="neither a file nor a folder"):
        git(root, "log", "-1")


@pytest.mark.parametrize("name", ["HEAD", "index", "packed-refs", "objects/info", "refs/heads/x"])
def test_a_link_to_itself_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    root = repository(tmp_path / "root")
    file = root / ".git" / name
    if file.is_dir():
        file.rename(tmp_path / "unused")
    file.unlink(missing_ok=True)
    file.symlink_to(file.name)
    try:
        git(root, "log", "-1")
    except (Unreadable, CommandFailed) as error:
        assert str(error)
    assert top(root) in {None, root}
