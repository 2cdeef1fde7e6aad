"""The sandbox is chosen once: the best that works, or none with the reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from laconic.agent.agent_from_settings import command_runner
from laconic.agent.permission import everything
from laconic.agent.sandbox.confine import LEAST, version
from laconic.agent.sandbox.landlock import find_landlock
from laconic.agent.sandbox.rules import rules_for
from laconic.config import command_environment, load
from laconic.errors import UsageError

needs_landlock = pytest.mark.skipif(version() < LEAST, reason="this kernel has no Landlock, or an old one")
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def test_none_is_said_with_its_reason_and_is_an_error_if_one_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    off = load(flags={"agent.sandbox": "off"}, environ={}, file=tmp_path / "none")
    assert "agent.sandbox is off" in command_runner(tmp_path, off, None).describe()
    around = command_runner(tmp_path, load(environ={}, file=tmp_path / "none"), None)
    assert around.describe().startswith("No sandbox (the working folder holds your home folder)")
    with pytest.raises(UsageError, match="Install bubblewrap"):
        command_runner(
            tmp_path, load(flags={"agent.sandbox": "require"}, environ={}, file=tmp_path / "none"), everything
        )


@needs_bubblewrap
def test_the_folder_is_as_it_was_after_a_command(tmp_path: Path) -> None:
    """Names that are held while it runs are free again; what a killed run has left is taken away."""
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    runner = command_runner(project, load(environ={}, file=tmp_path / "none"), everything)
    if runner.sandbox.name != "bubblewrap":
        pytest.skip(runner.describe())
    assert runner.run("echo x > made; mkdir -p .claude .git; touch .git/config", project, 10).code == 1
    assert [path.name for path in project.iterdir()] == ["made"]


@needs_bubblewrap
def test_git_can_be_made_writable_except_for_what_it_takes_orders_from(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    settings = load(flags={"agent.writable": ".git"}, environ={}, file=tmp_path / "none")
    runner = command_runner(project, settings, everything)
    if runner.sandbox.name != "bubblewrap":
        pytest.skip(runner.describe())
    commit = "touch a && git add a && git -c user.name=a -c user.email=b commit -qm x && git log --oneline"
    assert runner.run(commit, project, 20).code == 0
    before = (project / ".git" / "config").read_bytes()
    assert runner.run("git config a.b c", project, 10).code != 0
    assert runner.run("touch .git/hooks/pre-commit", project, 10).code != 0
    assert runner.run("mv .git x", project, 10).code != 0
    assert (project / ".git" / "config").read_bytes() == before


@needs_bubblewrap
def test_root_without_user_namespaces_has_a_sandbox(tmp_path: Path) -> None:
    """As in a container that forbids them: they are forbidden in a namespace of this test's own."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "try.py").write_text(
        "import sys\nfrom pathlib import Path\n"
        "from laconic.agent.agent_from_settings import command_runner\nfrom laconic.agent.permission import everything\n"
        "from laconic.config import load\n"
        "Path('/proc/sys/user/max_user_namespaces').write_text('0')\n"
        "root = Path(sys.argv[1])\n"
        "runner = command_runner(root, load(environ={}, file=root / 'none'), everything)\n"
        "ended = runner.run('touch x; touch ../y; id -u', root, 10)\n"
        "print(runner.sandbox.name, ended.output.split()[-1].decode())\n",
        "utf-8",
    )
    forbidden = ["unshare", "-Urmpf", "--mount-proc", sys.executable, str(tmp_path / "project" / "try.py")]
    done = subprocess.run([*forbidden, str(tmp_path / "project")], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no namespace for this test: {done.stderr[-200:]}")
    assert done.stdout.split() == ["bubblewrap", "0"]
    assert (tmp_path / "project" / "x").exists()
    assert not (tmp_path / "y").exists()


@needs_landlock
@pytest.mark.parametrize(
    "command",
    [
        "cat ../secret",
        "cat /etc/shadow",
        "touch ../made",
        "touch /tmp/made-by-a-command",
        "ln -s .. up; cat up/secret",
        "cat /proc/{victim}/environ",
        "cat /proc/{victim}/root{outside}/secret",
        "kill -0 {victim}",
        "kill -0 $PPID",
        "python3 -c 'import socket; socket.socket()'",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'",
        "unshare -rm true",
        "cp /bin/bash s; chmod u+s s; ./s -p -c 'cat ../secret'",
        "grep CapEff.*1ff /proc/self/status",
    ],
)
def test_landlock_refuses_what_the_rules_do_not_allow(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("hidden word\n", "utf-8")
    monkeypatch.setenv("PATH", f"{sys.base_prefix}/bin:/usr/bin:/bin")
    environment = command_environment(project)
    rules = rules_for(project, load(environ={}, file=tmp_path / "none"), environment)
    sandbox, reason = find_landlock(rules, environment)
    assert sandbox is not None, reason
    line = command.format(victim=os.getpid(), outside=tmp_path)
    ended = sandbox.run(line, project, seconds=10, environment=environment)
    assert ended.code != 0
    assert b"hidden word" not in ended.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project", "secret"]
    works = "echo a > b && mkdir d && mv b d && cat d/b && echo x > $TMPDIR/y && touch ~/z && python3 -c 1"
    ended = sandbox.run(works, project, seconds=10, environment=environment)
    assert (ended.code, ended.output.splitlines()[0]) == (0, b"a")
