"""Run a client beside the gateway in this process, so that neither outlives the other."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from laconic.workspace.git import home
from laconic.workspace.programs import find_program

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette

    from laconic.serving.listen import Listen

_PARENT_DIED: Final = 1  # PR_SET_PDEATHSIG


def run_beside(
    app: Starlette, where: Listen, opened: socket.socket, words: Sequence[str], environment: Mapping[str, str]
) -> int:
    """The client's exit code. The gateway already holds its port, so that the client may start first."""
    program = find_program(words[0], home(Path()), environment)
    client = subprocess.Popen(
        [program, *words[1:]],
        env=dict(environment),
        preexec_fn=_die_with_parent(),  # noqa: PLW1509 - no other thread runs yet
    )
    from laconic.serving.server import server_for  # after the client has started: this takes a while

    server = server_for(app, where)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, name="gateway", daemon=True)
    thread.start()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the key press reaches the client itself
    stop = signal.signal(signal.SIGTERM, lambda *_: client.terminate())
    try:
        return client.wait()
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, stop)
        with suppress(ProcessLookupError):
            client.kill()
        server.should_exit = True
        thread.join(5)


def _die_with_parent() -> Callable[[], object] | None:
    """On Linux the kernel ends the client when this process is killed in a way that it cannot see."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_PARENT_DIED, signal.SIGTERM)
