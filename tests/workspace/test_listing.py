"""A workspace has the files that git says, or that its ignore files leave; nothing outside is ever touched."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from laconic.workspace.ignore_files import IgnoreFiles
from laconic.workspace.listing import listing, look


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def write(root: Path, *paths: str, text: str = "x\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def paths(root: Path) -> list[str]:
    return [item.path for item in listing(root)]


def test_tracked_untracked_ignored_and_deleted(tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, "tracked.py", "deleted.py", "tracked.log")
    write(tmp_path, ".gitignore", text="*.log\n/build/\n")
    git(tmp_path, "add", "--force", ".")
    (tmp_path / "deleted.py").unlink()
    write(tmp_path, "new.py", "other.log", "build/out.py", "sub/build/in.py")
    assert paths(tmp_path) == [".gitignore", "new.py", "sub/build/in.py", "tracked.log", "tracked.py"]


def test_a_folder_within_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, "outer.py", "sub/inner.py")
    assert paths(tmp_path / "sub") == ["inner.py"]


def test_a_workspace_that_an_outer_repository_ignores(tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, ".gitignore", text="scratch/\n")
    write(tmp_path, "scratch/a.py")
    assert paths(tmp_path / "scratch") == ["a.py"]


def test_submodules_and_repositories_within(tmp_path: Path) -> None:
    library, root = tmp_path / "library", tmp_path / "root"
    for folder in (library, root):
        folder.mkdir()
        git(folder, "init")
    write(library, "lib.py", "ignored.log")
    write(library, ".gitignore", text="*.log\n")
    git(library, "add", "lib.py", ".gitignore")
    git(library, "commit", "-m", "first")
    git(root, "submodule", "add", str(library), "modules/library")
    write(root, "nested/n.py", "main.py")
    git(root / "nested", "init")
    write(root / "modules/library", "more.log")
    wanted = ["main.py", "modules/library/.gitignore", "modules/library/lib.py", "nested/n.py"]
    assert [path for path in paths(root) if path != ".gitmodules"] == wanted


def test_without_git_ignore_files_decide(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.log", "keep.log", "out/x.py", "sub/c.tmp", "sub/d.py", "node_modules/m/index.js")
    write(tmp_path, ".gitignore", text="*.log\n!keep.log\n/out\n")
    write(tmp_path, "sub/.ignore", text="*.tmp\n")
    assert paths(tmp_path) == [".gitignore", "a.py", "keep.log", "sub/.ignore", "sub/d.py"]


def test_a_line_of_an_ignore_file_that_is_no_pattern_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", text="!\n\\\n[z-a]\n[[:odd:]\n*.log\n")
    write(tmp_path, "a.py", "b.log")
    assert paths(tmp_path) == [".gitignore", "a.py"]


@pytest.mark.parametrize("tracked", [True, False])
def test_links_are_named_and_never_followed(tmp_path: Path, tracked: bool) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    write(outside, "secret.py")
    write(root, "a.py", "sub/b.py")
    (root / "out.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "again").symlink_to(root / "sub")
    (root / "loop").symlink_to(root / "loop")
    if tracked:
        git(root, "init")
        git(root, "add", ".")
    troubles = {item.path: item.trouble for item in listing(root)}
    assert troubles == {
        "a.py": "",
        "sub/b.py": "",
        "out.py": "a link that leaves the workspace",
        "folder": "a link that leaves the workspace",
        "again": "a link to sub",
        "loop": "a link to loop",
    }


def test_names_that_are_not_utf8_are_listed_with_the_reason(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.py"
    try:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system has no such names")
    write(tmp_path, "tab\tand\nnewline.py")
    assert [(item.path, item.trouble) for item in listing(tmp_path)] == [
        ("caf\\xe9.py", "its name is not UTF-8"),
        ("tab\tand\nnewline.py", ""),
    ]


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (item,) = listing(tmp_path)
    assert item.trouble == "not a regular file"


def test_one_file(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    assert look(tmp_path, "a.py") == listing(tmp_path)[0]
    assert look(tmp_path, "b.py") is None
    assert look(tmp_path, "a\0b") is None


@pytest.mark.skipif(not Path("/proc/1").exists(), reason="a system without /proc")
def test_a_link_that_may_not_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    (tmp_path / "other").symlink_to("/proc/1/cwd")
    found = {item.path: item.trouble for item in listing(tmp_path)}
    assert found["a.py"] == ""
    assert found["other"].startswith("a link that ")


def _names(top: Path) -> list[str]:
    found: list[str] = []
    for _, files in IgnoreFiles(os.fsencode(top)).walk(frozenset()):
        found += [os.fsdecode(name) for name in files]
    return found


@pytest.mark.parametrize("name", [".gitignore", ".ignore"])
def test_ignore_files_that_must_not_be_opened_say_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / name)
    (tmp_path / "sub" / name).symlink_to("/dev/zero")
    assert _names(tmp_path) == [name, "a.py", f"sub/{name}"]


def test_patterns_that_take_for_ever_are_passed_over(tmp_path: Path) -> None:
    bombs = ["*a" * 60 + "b", "**/" * 200 + "x", "a*" * 30, "[" * 5_000, "x" * 100_000]
    plain = ["*.log", "*.min.*.js", "**/out/**/deep/**/x.bin", "!keep.log"]
    (tmp_path / ".gitignore").write_text("\n".join([*bombs, *plain]))
    for name in ("a" * 200, "x.log", "keep.log", "b.min.1.js"):
        (tmp_path / name).touch()
    before = time.thread_time()
    assert _names(tmp_path) == [".gitignore", "a" * 200, "keep.log"]
    assert time.thread_time() - before < 5


def test_slow_patterns_are_given_up_in_the_end(tmp_path: Path) -> None:
    """Each of them may be tried, and all of them together take very long: then nothing is left out any more."""
    (tmp_path / ".gitignore").write_text("".join(f"*{'a' * 30}*{'a' * 30}*{number}b\n" for number in range(300)))
    for number in range(400):
        (tmp_path / f"{number:03d}{'a' * 240}.py").touch()
    before = time.thread_time()
    assert len(_names(tmp_path)) == 401
    assert time.thread_time() - before < 20
