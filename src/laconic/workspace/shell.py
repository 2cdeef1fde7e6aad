"""Run a shell command with a time limit; whatever it started ends with it, also what it put into the background."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import IO, Final

from laconic.errors import CommandFailed

_HEAD: Final = 4_000_000  # bytes of output that are kept from the start
_TAIL: Final = 4_000_000  # and from the end
_GRACE: Final = 0.4  # seconds between a request to end and the end
_MARK: Final = "LACONIC_COMMAND"  # in the environment of all that a command starts


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left behind."""

    code: int  # as a shell tells it: 128 and the signal's number when a signal ended it
    output: bytes  # of both channels, in order
    late: bool = False  # it did not end in time
    orphans: bool = False  # it left processes running; they were ended
    dropped: int = 0  # bytes out of the middle of the output


def shell(command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> Ended:
    """Run to the end or to the time limit. Nothing can be typed into it."""
    mark = token_hex(12)
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, _MARK: mark},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CommandFailed(f"The command cannot be started: {error}.", "Check its words and its folder.") from None
    assert process.stdout is not None
    kept = _Kept(process.stdout)
    ending = Thread(target=process.wait, daemon=True)  # waiting with a time limit would look again and again
    late, left = False, True
    try:
        kept.start()
        ending.start()
        ending.join(seconds)
        late = ending.is_alive()
        kept.join(0.0 if late else _GRACE)
        left = late or kept.is_alive() or _marked(mark) != []
    finally:
        if left:
            _end(process, mark)
        kept.join(_GRACE)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Ended(code, kept.output, late, left and not late, kept.dropped)


class _Kept(Thread):
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


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """First a request, then the end: of the command's group, and of whatever else carries its mark."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        for pid in _marked(mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        if process.returncode is not None and not _marked(mark):
            break
    process.wait()


def _marked(mark: str) -> list[int]:
    """Processes that a command started, wherever they went; where the system does not tell, none."""
    found = []
    wanted = f"{_MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
