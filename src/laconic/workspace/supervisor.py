"""Run a program and end everything that it started when it ends, when we are told to end, or when our parent dies.

A script of its own, started by its file name: it uses nothing but the standard library. Linux only. Processes that leave
their group, their session or their parent become ours, because the kernel hands them to the nearest "subreaper".
"""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_PDEATHSIG = 1
_SUBREAPER = 36
_GRACE = 0.4  # seconds between a request to end and the end


class _EndRequest(Exception):
    """Somebody wants us to end."""


def main(status: int, parent: int, words: list[str]) -> int:
    """The exit code as a shell tells it. A byte on `status` says that processes were left running."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _tell)
    libc.prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it died before we could ask to be told
        return 143
    child, code, left = 0, 128 + signal.SIGTERM, True
    try:
        child = _start(words, status)
        code = _wait(child)
        left = bool(_children())
        if left:
            os.write(status, b"!")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except _EndRequest:
        pass
    if left:
        _end_all(child)
    return code


def _tell(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _EndRequest


def _start(words: list[str], status: int) -> int:
    """The request to end waits until the child is known, and never meets our handler in the child."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = os.fork()
    if not child:
        _become(words, status)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return child


def _become(words: list[str], status: int) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(status)
        os.setsid()
        os.execv(words[0], words)
    except OSError as error:
        os.write(2, f"{words[0]}: {error}\n".encode())
    os._exit(127)


def _wait(child: int) -> int:
    while True:
        pid, how = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(how)
            if code >= 0:
                return code
            return 128 - code


def _end_all(child: int) -> None:
    """First a request, then the end, until there is nobody left."""
    _signal(child, signal.SIGTERM)
    until = time.monotonic() + _GRACE
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not _children():
            return
        if time.monotonic() >= until:
            _signal(child, signal.SIGKILL)
        time.sleep(0.005)


def _signal(child: int, number: int) -> None:
    """All in the command's group, and whoever has become ours."""
    if child:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, number)
    for pid in _children():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _children() -> list[int]:
    """Our children that are not done yet."""
    found = []
    me = str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text("utf-8", "replace").rsplit(")", 1)[-1].split()[:2]
            if parent == me and state != "Z":
                found.append(int(folder.name))
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
