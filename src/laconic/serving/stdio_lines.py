"""Standard input and output as lines of the protocol, kept from everyone else in the process."""

from __future__ import annotations

import os
import queue
from threading import Lock, Thread
from typing import Final

_CHUNK: Final = 65_536


class LineReader:
    """Lines come in through a thread, so that one can wait for the next with a limit; an empty line is the end."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._in = incoming
        self._out = outgoing
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._writing = Lock()
        Thread(target=self._read, daemon=True, name="laconic-stdin").start()

    @classmethod
    def claim(cls) -> LineReader:
        """Take the standard streams: what else is printed goes to standard error, what else is read is empty."""
        incoming, outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(incoming, outgoing)

    def wait(self) -> bytes:
        """The next line, or `b""` at the end."""
        return self._waiting.get()

    def next(self, seconds: float) -> bytes | None:
        """The next line, `b""` at the end, or None when none came in time."""
        try:
            return self._waiting.get(timeout=seconds)
        except queue.Empty:
            return None

    def end(self) -> None:
        """End the input here, after the lines that have come."""
        self._waiting.put(b"")

    def say(self, message: bytes) -> None:
        """Write one message whole."""
        left = memoryview(message + b"\n")
        with self._writing:
            while left:
                left = left[os.write(self._out, left) :]

    def _read(self) -> None:
        held = b""
        try:
            while chunk := os.read(self._in, _CHUNK):
                *whole, held = (held + chunk).split(b"\n")
                for line in whole:
                    if line.strip():
                        self._waiting.put(line)
        except OSError:
            pass  # a stream that breaks has ended
        if held.strip():
            self._waiting.put(held)
        self._waiting.put(b"")
