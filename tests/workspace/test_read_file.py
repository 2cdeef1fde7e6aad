"""Reading stays inside the workspace, and takes only regular files of a sensible size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from laconic.errors import CommandFailed, OutsideWorkspace, Unreadable
from laconic.workspace.lock import hold_lock
from laconic.workspace.process import run
from laconic.workspace.read_file import as_lines, as_text, is_binary, read_bytes, relative


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub/a.txt").write_text("text")
    (tmp_path / "secret").write_text("secret")
    return root


@pytest.mark.parametrize("path", ["../secret", "sub/../../secret", "/etc/passwd", "out", "folder/secret"])
def test_what_leaves_the_workspace_is_refused(root: Path, path: str) -> None:
    (root / "out").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    with pytest.raises(OutsideWorkspace):
        read_bytes(root, path)


@pytest.mark.parametrize("path", ["sub/a.txt", "./sub//a.txt", "sub/../sub/a.txt", "inner"])
def test_paths_inside_are_read_and_named_alike(root: Path, path: str) -> None:
    (root / "inner").symlink_to(root / "sub/a.txt")
    assert read_bytes(root, path) == b"text"
    assert relative(root, path) == "sub/a.txt"


def test_what_is_no_readable_file_says_why(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for path, why in (
        ("none", "does not exist"),
        ("sub", "not a regular"),
        ("pipe", "not a regular"),
        ("a\0", "usable"),
    ):
        with pytest.raises(Unreadable, match=why):
            read_bytes(root, path)
    with pytest.raises(Unreadable, match="over the limit"):
        read_bytes(root, "sub/a.txt", limit=3)


def test_text_and_what_is_not() -> None:
    assert is_binary(b"\x7fELF\0\0")
    assert not is_binary("ä".encode("utf-16"))
    assert as_text("ä".encode("utf-16")) == "ä"
    assert as_lines("a\x0cb\u2028c\r\nd\n\n".encode()) == ["a\x0cb\u2028c\r", "d", ""]
    assert as_lines(b"") == []
    assert as_text(b"\xef\xbb\xbfa\xff") == "a�"


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="did not end within"):
        run(["sleep", "60"], tmp_path, seconds=0.1)
    with pytest.raises(CommandFailed, match="is not installed"):
        run(["no-such-program"], tmp_path)
    assert run(["sh", "-c", "cat; exit 3"], tmp_path, given=b"in").code == 3


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock") as first, hold_lock(tmp_path / "lock", seconds=0.05) as second:
        assert (first, second) == (True, False)
    with hold_lock(tmp_path / "lock") as again:
        assert again
