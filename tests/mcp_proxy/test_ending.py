"""When we end, the servers behind us end, whatever they think of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from laconic.config import child_environment

_STUBBORN = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
while True:
    time.sleep(60)
"""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_SERVERS = 4

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def _wait(condition: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[list[Path]]:
    """Where the servers write their process ids; whoever is left over is ended."""
    files = [tmp_path / f"{number}.pid" for number in range(_SERVERS)]
    yield files
    for file in files:
        with suppress(OSError, ValueError):
            os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("first", ["a signal", "the end of the input"])
@pytest.mark.parametrize("patience", ["30", "0.5"], ids=["while they start", "while they are given up"])
def test_no_server_outlives_us(tmp_path: Path, pids: list[Path], patience: str, first: str) -> None:
    entries = {}
    for file in pids:
        entries[file.stem] = {"command": sys.executable, "args": ["-c", _STUBBORN, str(file)]}
    configuration = tmp_path / "servers.json"
    configuration.write_text(json.dumps({"mcpServers": entries}), "utf-8")
    variables = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_AROUND_START_SECONDS": patience}
    words = [sys.executable, "-m", "laconic", "mcp", "--around", str(configuration)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=child_environment(variables)
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(_HELLO).encode() + b"\n")
        process.stdin.flush()
        _wait(lambda: all(file.exists() and file.read_text() for file in pids))
        started = [int(file.read_text()) for file in pids]
        time.sleep(0.6)  # the impatient have begun to end them
        if first == "the end of the input":
            process.stdin.close()
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert [pid for pid in started if _lives(pid)] == []
