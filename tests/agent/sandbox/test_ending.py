"""Nothing that a command started is alive after it, after the time limit, or after the agent itself was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from laconic.agent.sandbox.choose import Unconfined
from laconic.workspace.shell import shell

_DAEMON = (
    "import os, signal, sys, time\n"
    "for n in (1, 15): signal.signal(n, signal.SIG_IGN)\n"
    "for _ in (1, 2):\n    if os.fork(): os._exit(0)\n    os.setsid()\n"
    "os.environ.clear(); open('ready', 'w').close(); time.sleep(60)"
)
_AGENT = (
    "import sys\nfrom pathlib import Path\n"
    "from laconic.agent.agent_from_settings import command_runner\nfrom laconic.agent.permission import everything\n"
    "from laconic.config import load\n"
    "root = Path(sys.argv[1])\n"
    "settings = load(flags={'agent.sandbox': sys.argv[2]}, environ={}, file=root / 'none')\n"
    "command_runner(root, settings, everything).run(sys.argv[3], root, 50)\n"
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def _running(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def _until(is_so: object, seconds: float = 30.0) -> None:
    assert callable(is_so)
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)


@pytest.mark.parametrize("seconds", [20.0, 1.5])
def test_a_daemon_ends_with_its_command_without_a_sandbox_too(tmp_path: Path, seconds: float) -> None:
    word = f"mark{os.getpid()}{seconds:g}"
    (tmp_path / "d.py").write_text(_DAEMON, "utf-8")
    wait = "while ! test -e ready; do sleep 0.05; done"
    command = f"{sys.executable} d.py {word}; {wait}; {'sleep 60' if seconds < 10 else 'true'}"
    ended = Unconfined("").run(command, tmp_path, seconds=seconds, environment=dict(os.environ))
    assert (ended.late, ended.orphans) == (seconds < 10, seconds > 10)
    assert _running(word) == []


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_command_ends_when_the_agent_is_killed(tmp_path: Path, sandbox: str) -> None:
    word = f"mark{os.getpid()}{sandbox}"
    (tmp_path / "d.py").write_text(_DAEMON, "utf-8")
    command = f"{sys.executable} d.py {word}; sleep 50; : {word}"
    agent = subprocess.Popen([sys.executable, "-c", _AGENT, str(tmp_path), sandbox, command])
    _until((tmp_path / "ready").exists)
    assert len(_running(word)) > 1
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    _until(lambda: not _running(word))
    assert _running(word) == []


def test_a_pipe_that_a_grandchild_holds_does_not_delay_the_answer(tmp_path: Path) -> None:
    ended = shell("setsid sleep 60 & echo done", tmp_path, seconds=30, environment=dict(os.environ))
    assert (ended.output, ended.late, ended.orphans) == (b"done\n", False, True)
