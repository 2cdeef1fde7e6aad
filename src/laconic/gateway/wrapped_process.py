"""Run a client, alone or next to the gateway in this process, so that neither outlives the other."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from laconic.workspace.git import home
from laconic.workspace.programs import find_program

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette

    from laconic.serving.listen import ListenAddress

_PARENT_DIED: Final = 1  # PR_SET_PDEATHSIG


def run_alone(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The client's exit code."""
    return _wait(_start(words, environment))


def run_beside(
    app: Starlette,
    where: ListenAddress,
    opened: socket.socket,
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    log: TextIO,
) -> int:
    """The client's exit code. The gateway already holds its port, so that the client may start first.

    While the client runs, the terminal is its own: what this process would print goes to the log.
    """
    client = _start(words, environment)
    with _output_to(log):
        from laconic.serving.server import server_for  # after the client has started: this takes a while

        server = server_for(app, where)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, name="gateway", daemon=True)
        thread.start()
        try:
            return _wait(client)
        finally:
            server.should_exit = True
            thread.join(5)


def _start(words: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    program = find_program(words[0], home(Path()), environment)
    return subprocess.Popen(
        [program, *words[1:]],
        env=dict(environment),
        preexec_fn=_die_with_parent(),  # noqa: PLW1509 - no other thread runs yet
    )


def _wait(client: subprocess.Popen[bytes]) -> int:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the key press reaches the client itself
    stop = signal.signal(signal.SIGTERM, lambda *_: client.terminate())
    try:
        code = client.wait()
        # ended by a signal, as a shell says it
        if code >= 0:
            return code
        return 128 - code
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, stop)
        with suppress(ProcessLookupError):
            client.kill()


@contextmanager
def _output_to(log: TextIO) -> Iterator[None]:
    """Send the output of this process, of all its threads and libraries, to a file for a while."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = {number: os.dup(number) for number in (1, 2)}
    for number in saved:
        os.dup2(log.fileno(), number)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)


def _die_with_parent() -> Callable[[], object] | None:
    """On Linux the kernel ends the client when this process is killed in a way that it cannot see."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_PARENT_DIED, signal.SIGTERM)
