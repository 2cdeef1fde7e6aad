"""Commands run when a list, a person or a flag allows them, inside the working folder, and never when denied."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.agent.permission import Permission, everything, parts
from laconic.errors import NotAllowed

DENY = ("sudo *", "git push*", "rm -rf /*", "dd *")


@pytest.mark.parametrize(
    "command",
    [
        "sudo rm x",
        "ls; sudo rm x",
        "ls && FOO=1 sudo rm x",
        "env A=b sudo rm x",
        "echo $(sudo cat /etc/shadow)",
        "echo `sudo id`",
        "git  push --force",
        "(cd . ; git push)",
        "nohup git push &",
        "true\ngit push",
        "rm -rf / ",
        "/usr/bin/sudo id",
        "bash -lc 'sudo id'",
        "sh -c \"sh -c 'git push'\"",
        "bash -c 'ls; git push'",
        "rm -rf /home",
    ],
)
def test_what_is_denied_never_runs(tmp_path: Path, command: str) -> None:
    """Not even when the user allows everything, and wherever in the line it stands."""
    with pytest.raises(NotAllowed, match=r"agent\.deny"):
        Permission(tmp_path, ("*",), DENY, everything).check(command)


@pytest.mark.parametrize("command", ["pytest -q", "pytest -q | head -5", "cd src && pytest", "pytest 2>&1 | head -3"])
def test_what_is_on_the_list_runs_without_a_question(tmp_path: Path, command: str) -> None:
    (tmp_path / "src").mkdir()
    Permission(tmp_path, ("pytest*", "head *", "cd *", "1"), DENY).check(command)


@pytest.mark.parametrize(
    "command",
    ["make", "pytest; make", "pytest $(make)", "pytest > /etc/passwd", "pytest `make`", "pytest | tee x", "", " ; "],
)
def test_the_rest_is_asked_for_and_without_anybody_refused(tmp_path: Path, command: str) -> None:
    asked: list[str] = []

    def no(said: str) -> str:
        asked.append(said)
        return "no"

    with pytest.raises(NotAllowed, match="user does not allow"):
        Permission(tmp_path, ("pytest*",), DENY, no).check(command)  # type: ignore[arg-type]
    assert asked == [command]
    with pytest.raises(NotAllowed, match="Nobody is there"):
        Permission(tmp_path, ("pytest*",), DENY).check(command)


def test_always_holds_for_the_same_command_only(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(said: str) -> str:
        asked.append(said)
        return "always"

    permission = Permission(tmp_path, (), DENY, ask)  # type: ignore[arg-type]
    for command in ("make", "make", "make all"):
        permission.check(command)
    assert asked == ["make", "make all"]


@pytest.mark.parametrize("command", ["cd /", "cd .. && make", "pushd ../x", "cd 'a/../..'"])
def test_a_command_does_not_leave_the_folder(tmp_path: Path, command: str) -> None:
    with pytest.raises(NotAllowed, match="outside"):
        Permission(tmp_path, ("*",), (), everything).check(command)


def test_a_line_is_taken_apart(tmp_path: Path) -> None:
    assert list(parts("grep 'sudo x' notes.md")) == ["grep 'sudo x' notes.md"]
    assert list(parts("A=1 B=2 time make  all|tee x && (cd y; ls)")) == ["make all", "tee x", "cd y", "ls"]
