"""A hostile repository runs nothing and shows nothing of its neighbours, whatever command or tool looks at it.

Each trap is proved to be live first: plain git springs it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.attack.repositories import SECRET, TRAPS, Place, Trap
from tests.attack.written_repositories import TRAPS as WRITTEN

from laconic.cli.main import main
from laconic.config import Settings, load
from laconic.errors import LaconicError
from laconic.mcp_server.server import CodePlane

DIFFS = ("", "staged", "unstaged", "HEAD^!", "HEAD~1..HEAD", "HEAD~1...HEAD", "HEAD~1..WORK", "topic", "main@{0}")
COMMANDS = (
    ("index",),
    ("diff",),
    ("diff", "HEAD^!"),
    ("diff", "--view", "hunks"),
    ("report", "found.txt", "--since", "HEAD~1"),
    ("search", "one"),
    ("map",),
    ("context", "change what one returns"),
    ("read", "a.py"),
    ("inspect", "one"),
    ("trace", "one"),
    ("workspace",),
    ("workspace", "refresh"),
    ("workspace", "list"),
    ("recall",),
    ("run", "--", "true"),
    ("doctor",),
    ("agent", "-p", "--model", "scripted:../model.toml", "Say hello."),
)
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    *(("diff", dict[str, object](states=states)) for states in DIFFS),
    ("diff", {"view": "hunks"}),
    ("report", {"file": "found.txt", "since": "HEAD~1"}),
    ("search", {"query": "one"}),
    ("map", {}),
    ("context", {"task": "change what one returns"}),
    ("read", {"targets": ["a.py"]}),
    ("inspect", {"symbol": "one"}),
    ("trace", {"symbol": "one"}),
    ("workspace", {"action": "add", "path": "."}),
    ("workspace", {"action": "refresh"}),
    ("edit", {"edits": [{"path": "made.py", "create": True, "text": "x = 1\n"}]}),
    ("workspace", {"action": "remove", "path": "."}),
)
BENIGN = Trap("nothing", lambda place: None, ())
ALL = (*TRAPS, *WRITTEN)
EACH = pytest.mark.parametrize("trap", ALL, ids=[trap.name for trap in ALL])


def run_commands(place: Place, inside: str = "") -> tuple[str, list[str]]:
    """All that every shell command prints in a repository, and what failed."""
    config = place.folder / "config.toml"
    config.write_text(f'cache_dir = "{place.folder / "cache"}"\nstate_dir = "{place.folder / "state"}"\n')
    (place.folder / "model.toml").write_text('[[rule]]\nwhen = ["."]\nsay = "Hello."\n')
    printed, failed = io.StringIO(), []
    code: object
    for name, *words in COMMANDS:
        with chdir(place.root / inside), redirect_stdout(printed), redirect_stderr(printed):
            try:
                code = main([name, "--config", str(config), *_placed(words, place)])
            except LaconicError as error:
                code = str(error)
        if code != 0:
            failed.append(f"{name} {words}: {code}")
    return printed.getvalue() + "".join(failed), failed


def _placed(words: list[str], place: Place) -> list[str]:
    return [word.replace("../", f"{place.folder}/") for word in words]


def call_tools(place: Place, inside: str = "") -> tuple[str, list[str]]:
    """All that every tool answers to a client of the protocol, and what failed."""
    told, failed = [], []

    async def talk() -> None:
        async with Client(CodePlane(place.root / inside, _settings(place), editing=True).server()) as client:
            for name, given in CALLS:
                answer = await client.call_tool(name, given)
                text = "".join(getattr(part, "text", "") for part in answer.content)
                told.append(text)
                if answer.is_error:
                    failed.append(f"{name} {given}: {text}")

    anyio.run(talk)
    return "".join(told), failed


def _settings(place: Place) -> Settings:
    flags = {"cache_dir": str(place.folder / "cache-of-tools")}
    return load(flags=flags, environ={}, file=place.folder / "none.toml")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No client of the person who runs the tests is looked at."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_without_a_trap_every_command_and_every_tool_answers(tmp_path: Path) -> None:
    """So that silence below means safety, and not that a call was wrong."""
    place = BENIGN.set(tmp_path / "ours")
    printed, failed = run_commands(place)
    assert failed == []
    assert "return a + 2" in printed
    told, failed = call_tools(place)
    assert failed == []
    assert "return a + 2" in told


def test_there_are_enough_traps() -> None:
    assert len({trap.name for trap in ALL}) == len(ALL) >= 100


@EACH
def test_the_trap_is_live_and_we_do_not_spring_it(trap: Trap, tmp_path: Path) -> None:
    assert trap.is_sprung_by_plain_git(trap.set(tmp_path / "proof")), "git itself no longer springs this trap"
    place = trap.set(tmp_path / "ours")
    printed, _ = run_commands(place, trap.inside)
    assert not place.mark.exists()
    told, _ = call_tools(place, trap.inside)
    assert not place.mark.exists()
    assert SECRET not in printed + told
    assert str(place.private / "secret.py") not in printed + told


@pytest.mark.parametrize("name", ["filter clean", "fsmonitor", "ssh by lazy fetch", "work tree elsewhere"])
def test_nor_does_the_server_as_a_client_starts_it(name: str, tmp_path: Path) -> None:
    """A process of its own, started in the hostile folder."""
    (trap,) = (trap for trap in TRAPS if trap.name == name)
    place = trap.set(tmp_path / "ours")
    own = {"LACONIC_CACHE_DIR": str(place.folder / "cache"), "LACONIC_CONFIG": str(place.folder / "none")}

    async def talk() -> str:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "laconic", "mcp", "--edit"],
            env={**place.environment(), **own},
            cwd=place.root,
        )
        async with Client(server) as client:
            answers = [await client.call_tool(tool, given) for tool, given in CALLS]
        return "".join(getattr(part, "text", "") for answer in answers for part in answer.content)

    told = anyio.run(talk)
    assert "a.py" in told
    assert not place.mark.exists()
    assert SECRET not in told


@pytest.mark.parametrize(
    "path", [".:{path}", ":{path}", "bin:{path}", "{root}/bin:{path}", "{root}/../linked:{path}"]
)
def test_programs_of_the_repository_are_never_started(path: str, tmp_path: Path) -> None:
    """`git` and `ruff` lie in the repository, and the PATH leads there before it leads anywhere else."""
    place = BENIGN.set(tmp_path / "ours")
    for folder in (
        place.root,
        place.root / "bin",
        place.root / ".venv" / "bin",
        place.root / "node_modules" / ".bin",
    ):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("git", "ruff", "less", "sh"):
            (folder / name).write_text(f"#!/bin/sh\n: > '{place.mark}'\n")
            (folder / name).chmod(0o755)
    (place.folder / "linked").symlink_to(place.root / "bin")
    variables = {
        **place.environment(),
        "PATH": path.format(path=os.environ["PATH"], root=place.root),
        "LACONIC_CACHE_DIR": str(place.folder / "cache"),
        "LACONIC_REPORT_ALLOW": "ruff",
    }
    subprocess.run(["git", "--version"], cwd=place.root, env=variables, check=True, capture_output=True)
    assert place.mark.exists(), "the PATH does not lead into the repository"
    place.mark.unlink()
    said = {}
    for words in (("diff",), ("search", "one"), ("report", "--run", "ruff"), ("doctor",), ("report", "found.txt")):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "laconic", *words],
            cwd=place.root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        said[words[0], len(words)] = done.stdout + done.stderr
    assert not place.mark.exists()
    assert "return a + 2" in said["diff", 1] or "one" in said["diff", 1]
    assert "F821" in said["report", 2]


def test_modules_of_the_repository_are_never_imported(tmp_path: Path) -> None:
    """Python looks into the current folder first: our own processes do not."""
    place = BENIGN.set(tmp_path / "ours")
    for name in ("msgspec", "regex", "tree_sitter", "mcp", "sqlite3", "json", "sitecustomize", "laconic"):
        (place.root / f"{name}.py").write_text(f"open({str(place.mark)!r}, 'w').close()\nraise SystemExit(9)\n")
    subprocess.run([sys.executable, "-m", "msgspec"], cwd=place.root, check=False, capture_output=True)
    assert place.mark.exists(), "Python no longer looks into the current folder"
    place.mark.unlink()
    laconic = Path(sys.executable).with_name("laconic")
    variables = {**place.environment(), "LACONIC_CACHE_DIR": str(place.folder / "cache")}
    for words in (("index",), ("search", "one"), ("diff",), ("doctor",)):
        subprocess.run([laconic, *words], cwd=place.root, env=variables, check=True, capture_output=True)
    assert not place.mark.exists()
