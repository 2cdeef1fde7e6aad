"""A server as a process of ours: one message a line on its standard streams, bounded, never waited for in vain."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.messages import Message
from laconic.serving.line_repair import find_id

_CHUNK: Final = 262_144
_EDGE: Final = 65_536  # bytes at either end of a line that is too long, in which its id is looked for
_PATIENCE: Final = 0.8  # seconds in which a process may end by itself; twice that is less than a client gives us


class ProcessTransport:
    """Speaks to one process. `receive` gets its messages, `lost` the ids of answers that could not be read."""

    def __init__(
        self, receive: Callable[[Message], None], lost: Callable[[object, str], None], *, limit: int = 32_000_000
    ) -> None:
        self._receive = receive
        self._lost = lost
        self._limit = limit
        self._process: asyncio.subprocess.Process | None = None

    async def open(self, command: tuple[str, ...], folder: str, environment: Mapping[str, str]) -> None:
        """Start the process. What it complains about goes where our complaints go."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder or None,
                env=dict(environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=None,
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            raise ServerUnavailable(
                f"{Path(command[0]).name} cannot be started: {error}.", "Fix its entry."
            ) from None

    async def run(self) -> str:
        """Read until the process ends; says how it ended."""
        process = self._opened()
        assert process.stdout is not None
        lines = LineBuffer(self._limit)
        while chunk := await process.stdout.read(_CHUNK):
            for line in lines.feed(chunk):
                self._take(line)
            await asyncio.sleep(0)  # a server that never stops talking must not keep the others from being heard
        code = await process.wait()
        return f"ended with code {code}"

    async def send(self, message: Message) -> None:
        process = self._opened()
        assert process.stdin is not None
        try:
            process.stdin.write(msgspec.json.encode(message) + b"\n")
            await process.stdin.drain()
        except (OSError, RuntimeError) as error:
            raise ServerUnavailable(f"It does not listen: {error}.") from None

    async def close(self) -> None:
        """Close its input, as the protocol says; end it and what it started if it stays."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _PATIENCE)
        if process.returncode is None:
            _end(process, force=False)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _PATIENCE)
        if process.returncode is None:
            _end(process, force=True)
            await process.wait()

    def _opened(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise ServerUnavailable("It was not started.")
        return self._process

    def _take(self, line: CompleteLine) -> None:
        if line.size > self._limit:
            self._lost(_number(line), f"sent an answer of {line.size:,} bytes, more than {self._limit:,}")
            return
        try:
            message = msgspec.json.decode(line.head)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._lost(_number(line), "sent a line that is not JSON")
            return
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict):
                self._receive(one)


class CompleteLine(msgspec.Struct, frozen=True):
    """One line; of one that is too long, its two ends."""

    head: bytes
    size: int
    tail: bytes = b""


class LineBuffer:
    """Cuts a stream into lines and never holds much more than a line may have."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""

    def feed(self, chunk: bytes) -> list[CompleteLine]:
        """The lines that this chunk completes."""
        *ends, rest = chunk.split(b"\n")
        found: list[CompleteLine] = []
        for end in ends:
            self._add(end)
            if self._size:
                found.append(CompleteLine(b"".join(self._parts), self._size, self._tail))
            self._parts, self._size, self._tail = [], 0, b""
        self._add(rest)
        return found

    def _add(self, part: bytes) -> None:
        if not part:
            return
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
            return
        if not self._tail:
            self._parts = [b"".join(self._parts)[:_EDGE]]
        self._tail = (self._tail + part)[-_EDGE:]


def _number(line: CompleteLine) -> object:
    found = find_id(line.head)
    if found is None and line.tail:
        return find_id(b"{" + line.tail.rpartition(b",")[2])
    return found


def _end(process: asyncio.subprocess.Process, *, force: bool) -> None:
    """End the process and its group; on Windows the process alone."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        elif force:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGTERM)
