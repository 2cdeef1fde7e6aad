"""`laconic agent` from a shell: what is printed where, exit codes, questions on a terminal, sessions that are kept."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.agent.stage import repair

from laconic.cli.main import main
from laconic.errors import UsageError

CASE = repair("wrong_sign")


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")}
    return {**kept, "LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_STATE_DIR": str(folder / "state")}


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "laconic", "agent", "--model", f"scripted:{CASE.script}", *words]


def _agent(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*words),
        cwd=folder / "project",
        env=_environment(folder),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    CASE.set_up(tmp_path / "project")
    return tmp_path


def test_for_scripts_nothing_but_the_answer_is_printed(folder: Path) -> None:
    done = _agent(folder, "-p", "--yes", CASE.task)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "add subtracted the y of the other vector. It adds it now.\n"
    assert CASE.passes(folder / "project")


def test_for_people_the_work_is_shown_beside_the_answer(folder: Path) -> None:
    """A limit ends with code 3 and says how to go on; going on ends with the answer; a replay reads the session."""
    done = _agent(folder, "--yes", "--max-turns", "1", CASE.task)
    assert done.returncode == 3
    assert "1 of 1 turns" in done.stderr
    assert "--resume" in done.stderr
    done = _agent(folder, "--yes", "--resume", "last")
    assert done.returncode == 0
    assert "edit edits=" in done.stderr
    assert "run command=python3 -m unittest" in done.stderr
    assert "2 turns" in done.stderr
    assert done.stdout.startswith("add subtracted")
    assert _agent(folder, "--resume", "last").returncode == 2  # it is done: there is nothing to go on with
    replayed = subprocess.run(
        [sys.executable, "-m", "laconic", "replay", str(folder / "state" / "agent"), "--least", "2", "--json"],
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    assert {row["policy"] for row in json.loads(replayed.stdout)} >= {"default"}


def test_without_a_terminal_commands_are_refused(folder: Path) -> None:
    """The model is told so, and the edit that needs no permission is made."""
    done = _agent(folder, "-p", CASE.task)
    assert done.stdout == "No rule in this script matches.\n"
    (file,) = (folder / "state" / "agent").glob("*.jsonl")
    assert "There is no terminal to ask for permission" in file.read_text("utf-8")
    assert CASE.passes(folder / "project")


@pytest.mark.parametrize(("word", "allowed"), [("y", True), ("n", False)])
def test_on_a_terminal_a_person_is_asked(folder: Path, word: str, allowed: bool) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        _command(CASE.task),
        cwd=folder / "project",
        env=_environment(folder),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    seen, until = b"", time.monotonic() + 60
    while b"(n)" not in seen and time.monotonic() < until:
        if select.select([ours], [], [], 1)[0]:
            seen += os.read(ours, 4096)
    os.write(ours, f"{word}\n".encode())
    answer, _ = process.communicate(timeout=60)
    os.close(ours)
    assert b"run?" in seen
    assert b"python3 -m unittest" in seen
    assert answer.startswith(b"add subtracted") is allowed


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "No task was given"),
        (("--resume", "nothing", "x"), "No session named 'nothing'"),
        (("--resume", "../../etc/passwd", "x"), "No session named"),
        (("--model", "scripted:none.toml", "x"), "none.toml cannot be read"),
        (("--model", "nonsense", "x"), "does not name a model"),
    ],
)
def test_wrong_usage_is_named(
    folder: Path, words: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LACONIC_STATE_DIR", str(folder / "state"))
    with pytest.raises(UsageError, match=re.escape(problem)):
        main(["agent", "--root", str(folder / "project"), *words])
    assert not list(folder.rglob("*.jsonl"))


def test_a_script_that_is_none_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LACONIC_STATE_DIR", str(folder / "state"))
    (folder / "bad.toml").write_text('[[rule]]\nwhen = ["("]\n', "utf-8")
    with pytest.raises(UsageError, match="is not a model script"):
        main(["agent", "--model", f"scripted:{folder / 'bad.toml'}", "x"])
