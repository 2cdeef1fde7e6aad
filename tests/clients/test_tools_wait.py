"""A hook of the client waits until our server has listed its tools, and never for nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from laconic.clients.tools_wait import find_servers
from laconic.config import child_environment
from laconic.workspace import processes
from laconic.workspace.processes import RunningProcess, descendants, list_processes

LACONIC = [sys.executable, "-P", "-m", "laconic"]


@contextmanager
def server(state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Our server as a child of this process, which plays the client; it has answered the greeting."""
    variables = child_environment({"LACONIC_STATE_DIR": str(state), "LACONIC_CACHE_DIR": str(state.parent / "cache")})
    with subprocess.Popen([*LACONIC, "mcp"], stdin=-1, stdout=-1, env=variables, cwd=state.parent) as started:
        try:
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            _ask(started, {"id": 1, "method": "initialize", "params": about})
            yield started
        finally:
            started.kill()


def _ask(started: subprocess.Popen[bytes], message: dict[str, object]) -> dict[str, object]:
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    started.stdin.flush()
    answer: dict[str, object] = json.loads(started.stdout.readline())
    return answer


def hook(state: Path, client: int | None = None) -> subprocess.Popen[bytes]:
    variables = child_environment({"LACONIC_STATE_DIR": str(state)})
    words = [*LACONIC, "hook", "--client", str(client or os.getpid())]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)


def finish(waiting: subprocess.Popen[bytes]) -> None:
    """It ends well, and says nothing: what it prints would be in the prompt."""
    assert waiting.communicate(timeout=60) == (b"", b"")
    assert waiting.returncode == 0


def test_the_hook_ends_when_the_tools_are_listed_and_the_mark_goes_with_the_server(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with server(state) as started:
        waiting = hook(state)
        time.sleep(2)
        assert waiting.poll() is None
        assert "result" in _ask(started, {"id": 2, "method": "tools/list", "params": {}})
        finish(waiting)
        assert [mark.name for mark in (state / "listed").iterdir()] == [f"{os.getpid()}-{started.pid}"]
        assert started.stdin is not None
        started.stdin.close()
        started.wait(timeout=60)
        assert not list((state / "listed").iterdir())


def test_nobody_waits_for_a_server_that_is_gone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with server(state) as started:
        waiting = hook(state)
        time.sleep(1)
        assert waiting.poll() is None
        started.kill()
        finish(waiting)


@pytest.mark.parametrize("client", [None, 2**22 + 7], ids=["without-a-server", "that-is-gone"])
def test_nobody_waits_for_a_client(tmp_path: Path, client: int | None) -> None:
    finish(hook(tmp_path / "state", client))


def test_nobody_waits_where_no_mark_can_be_left(tmp_path: Path) -> None:
    """The server lists its tools all the same."""
    state = tmp_path / "state"
    state.write_text("a file")
    with server(state) as started:
        finish(hook(state))
        assert "result" in _ask(started, {"id": 2, "method": "tools/list", "params": {}})


def test_marks_of_killed_servers_are_removed_in_time(tmp_path: Path) -> None:
    folder = tmp_path / "listed"
    folder.mkdir()
    old, new, running = folder / f"1-{2**22 + 7}", folder / f"1-{2**22 + 8}", folder / f"1-{os.getpid()}"
    for mark in (old, new, running):
        mark.touch()
    for mark in (old, running):
        os.utime(mark, (1, 1))
    finish(hook(tmp_path))
    assert {new, running} == set(folder.iterdir())


def test_servers_are_those_that_this_client_started() -> None:
    known = [
        RunningProcess(10, 1, "claude fix it"),
        RunningProcess(11, 10, "/home/me/.local/bin/python /home/me/.local/bin/laconic mcp --edit"),
        RunningProcess(12, 10, "uvx --from ./tools laconic mcp"),
        RunningProcess(13, 12, "/cache/python /cache/laconic mcp"),
        RunningProcess(14, 10, "/usr/bin/python -P -m laconic mcp --around .laconic-around.json"),
        RunningProcess(15, 10, "/bin/sh -c laconic hook --client $PPID || true"),
        RunningProcess(20, 1, "claude in another folder"),
        RunningProcess(21, 20, "laconic mcp"),
    ]
    assert [server.pid for server in find_servers(known, 10)] == [11, 13]
    assert [server.pid for server in find_servers(known, 20)] == [21]


def test_the_systems_own_list_says_the_same_as_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("ps") is None:
        pytest.skip("ps is not installed")
    with subprocess.Popen([sys.executable, "-c", "input()", "marked"], stdin=-1) as child:
        try:
            for kernel in (processes._KERNEL, Path("/nowhere")):
                monkeypatch.setattr(processes, "_KERNEL", kernel)
                (found,) = [one for one in descendants(list_processes(), os.getpid()) if one.pid == child.pid]
                assert found.parent == os.getpid()
                assert found.command.endswith("input() marked")
        finally:
            child.kill()
