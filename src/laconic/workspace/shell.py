"""Run a command with a time limit; everything that it started ends with it, even in the background."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Final

from laconic.errors import CommandFailed

_HEAD: Final = 4_000_000  # bytes of output that are kept from the start
_TAIL: Final = 4_000_000  # and from the end
_GRACE: Final = 0.4  # seconds for what is in a pipe
_PATIENCE: Final = 3.0  # seconds for the supervisor to end what it supervises

# Makes the words of a program. It is given the descriptor on which a byte says that processes were left running.
Launch = Callable[[int], list[str]]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left behind."""

    code: int  # as a shell tells it: 128 and the signal's number when a signal ended it
    output: bytes  # of both channels, in order
    late: bool = False  # it did not end in time
    orphans: bool = False  # it left processes running; they were ended
    dropped: int = 0  # bytes out of the middle of the output

    @property
    def complaint(self) -> str:
        """Why it failed, in its own words; empty if it did not."""
        if self.code == 0:
            return ""
        return self.output.decode("utf-8", "replace").strip() or f"exit code {self.code}"


def supervise(words: list[str]) -> Launch:
    """A launch that ends everything with the program, where the system can; elsewhere only its process group ends."""
    if sys.platform != "linux":
        return lambda _: words
    script = str(Path(__file__).with_name("supervisor.py"))
    return lambda status: [sys.executable, "-I", "-S", script, str(status), str(os.getpid()), *words]


def shell(command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult:
    """Run a command line of the shell."""
    return execute(supervise(["/bin/sh", "-c", command]), folder, seconds=seconds, environment=environment)


def execute(
    launch: Launch,
    folder: Path,
    *,
    seconds: float,
    environment: Mapping[str, str],
    descriptors: tuple[int, ...] = (),
) -> CommandResult:
    """Run to the end or to the time limit. Nothing can be typed into it; `descriptors` stay open in it."""
    status, tell = os.pipe()
    try:
        process = subprocess.Popen(
            launch(tell),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            pass_fds=(tell, *descriptors),
        )
    except (OSError, ValueError) as error:
        os.close(status)
        raise CommandFailed(f"The command cannot be started: {error}.", "Check the command and its folder.") from None
    finally:
        os.close(tell)
    assert process.stdout is not None
    kept = _OutputEnds(process.stdout)
    ending = Thread(target=process.wait, daemon=True)  # waiting with a time limit would look again and again
    late = True
    try:
        kept.start()
        ending.start()
        ending.join(seconds)
        late = ending.is_alive()
        kept.join(0.0 if late else _GRACE)
    finally:
        if late or kept.is_alive():
            _end(process)
        kept.join(_GRACE)
        orphans = _has_byte(status)
        os.close(status)
    if process.returncode >= 0:
        code = process.returncode
    else:
        code = 128 - process.returncode
    return CommandResult(code=code, output=kept.output, late=late, orphans=orphans and not late, dropped=kept.dropped)


class _OutputEnds(Thread):
    """Reads all that is printed, and keeps both ends of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._size = 0
        self.dropped = 0

    def run(self) -> None:
        with suppress(OSError, ValueError), self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65536):
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        room = max(0, _HEAD - len(self._head))
        self._head += chunk[:room]
        if chunk := chunk[room:]:
            self._tail.append(chunk)
            self._size += len(chunk)
        while self._size > _TAIL:
            gone = len(self._tail.popleft())
            self._size -= gone
            self.dropped += gone

    @property
    def output(self) -> bytes:
        return bytes(self._head) + b"".join(self._tail)


def _end(process: subprocess.Popen[bytes]) -> None:
    """First a request, which a supervisor passes on, then the end of the process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
            break
    process.wait()


def _has_byte(pipe: int) -> bool:
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        return os.read(pipe, 1) != b""
    return False
