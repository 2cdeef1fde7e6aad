"""Commands run when a list, a person or a flag allows them, and are refused when a list says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.agent.permission import Permission, everything
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
        "timeout 5 sudo id",
        "timeout -k 1 -s KILL 5 sudo id",
        "'sudo' id",
        '"sudo" id',
        "s''udo id",
        "\\sudo id",
        "git -C . push",
        "git -c a.b=c --no-pager push origin",
        "git --git-dir .git push",
        "nice -n 5 sudo id",
        "stdbuf -o0 setsid sudo id",
        "env -u A B=1 timeout 3 sudo id",
        "PATH=. sudo id",
        "find . -name x -exec sudo rm {} +",
        "echo x | xargs -n 1 sudo rm",
        "eval 'git push'",
        "eval git push",
        "if true; then sudo id; fi",
        "for x in 1; do sudo id; done",
        "f() { sudo id; }; f",
        "cat <(sudo id)",
        'echo "$(sudo id)"',
        "! sudo id",
        "ls > x; sudo id",
        "bash -c \"timeout 1 bash -c 'sudo id'\"",
    ],
)
def test_what_is_denied_is_refused(tmp_path: Path, command: str) -> None:
    """Also when the user allows everything, wherever in the line it stands, and in its usual disguises."""
    with pytest.raises(NotAllowed, match=r"agent\.deny"):
        Permission(tmp_path, ("*",), DENY, everything).check(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "pytest -q | head -5",
        "cd src && pytest",
        "pytest 2>&1 | head -3",
        "pytest 'tests/a b.py' 2>/dev/null",
        "timeout 60 pytest -x",
        "nice pytest; time pytest",
        "pytest -k 'sudo or $HOME'",
    ],
)
def test_what_is_on_the_list_runs_without_a_question(tmp_path: Path, command: str) -> None:
    (tmp_path / "src").mkdir()
    Permission(tmp_path, ("pytest*", "head *", "cd *"), DENY).check(command)


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "pytest; make",
        "pytest $(make)",
        "pytest > /etc/passwd",
        "pytest >> x",
        "pytest &> x",
        "pytest `make`",
        "pytest | tee x",
        "",
        " ; ",
        "PATH=. pytest",
        "LD_PRELOAD=./x.so pytest",
        "env PYTHONPATH=. pytest",
        "env -C / pytest",
        "export PATH=.; pytest",
        "A=1; pytest",
        "./pytest",
        "pytest $X",
        'pytest "$X"',
        "$X",
        "$X pytest",
        "p*test",
        "$'pytest'",
        "pytest 'open",
        "find . -delete -exec pytest ';'",
        "flock x pytest",
        "sh -c 'make'",
        'sh -c "$X"',
    ],
)
def test_the_rest_is_asked_for_and_without_anybody_refused(tmp_path: Path, command: str) -> None:
    asked: list[str] = []

    def no(said: str) -> str:
        asked.append(said)
        return "no"

    with pytest.raises(NotAllowed, match="user does not allow"):
        Permission(tmp_path, ("pytest*",), DENY, no).check(command)  # type: ignore[arg-type]
    assert asked == [command]
    with pytest.raises(NotAllowed, match="There is no terminal"):
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


@pytest.mark.parametrize("command", ["cd /", "cd .. && make", "pushd ../x", "cd 'a/../..'", "cd ~", "cd -P /"])
def test_a_command_does_not_leave_the_folder(tmp_path: Path, command: str) -> None:
    with pytest.raises(NotAllowed, match="outside"):
        Permission(tmp_path, ("*",), (), everything).check(command)
