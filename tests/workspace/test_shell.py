"""A shell command runs to its end or to its time, and all that it prints or leaves behind is dealt with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from laconic.errors import CommandFailed
from laconic.workspace.shell import CommandResult, shell


def _run(folder: Path, command: str, seconds: float = 20.0) -> CommandResult:
    return shell(command, folder, seconds=seconds, environment=dict(os.environ))


@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("echo out; echo err >&2", 0, b"out\nerr\n"),
        ("exit 3", 3, b""),
        ("kill -9 $$", 137, b""),
        ("no-such-program-here 2>/dev/null", 127, b""),
        ("cat", 0, b""),
        ("pwd", 0, None),
        ("printf '\\377\\000x'", 0, b"\xff\x00x"),
    ],
)
def test_code_and_output_are_what_a_shell_tells(
    tmp_path: Path, command: str, code: int, output: bytes | None
) -> None:
    """Both channels in order, any bytes, signals as codes; it reads nothing from us, and starts in its folder."""
    ended = _run(tmp_path, command)
    expected = f"{tmp_path}\n".encode() if output is None else output
    assert ended == CommandResult(code, expected)


def test_of_an_endless_output_both_ends_are_kept(tmp_path: Path) -> None:
    ended = _run(tmp_path, "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert ended.output.startswith(b"first\n")
    assert ended.output.endswith(b"\nlast\n")
    assert len(ended.output) + ended.dropped == 20_000_000 + len(b"first\n\nlast\n")
    assert len(ended.output) < 9_000_000


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="cannot be started"):
        _run(tmp_path, "echo a\0b")
    with pytest.raises(CommandFailed, match="cannot be started"):
        _run(tmp_path / "gone", "true")


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    ended = _run(tmp_path, "echo begun; sleep 60", 0.5)
    assert (ended.late, ended.orphans, ended.output) == (True, False, b"begun\n")
    assert ended.code == 143
