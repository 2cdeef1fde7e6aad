"""A provider on loopback that answers from a script and keeps what it was asked. For tests, flows and benchmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Literal

import msgspec


class ReceivedRequest(msgspec.Struct, frozen=True):
    """A request as it arrived."""

    method: str
    path: str  # with its query
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


class ScriptedAnswer(msgspec.Struct, frozen=True):
    """What to say. Chunks are sent one by one; a fault happens after the last."""

    chunks: tuple[bytes, ...] = (b"{}",)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    pause: float = 0.0  # seconds between chunks
    fault: Literal["", "reset", "truncated", "stall"] = ""


Script = Callable[[ReceivedRequest], ScriptedAnswer]


def streamed(events: Sequence[bytes], **more: object) -> ScriptedAnswer:
    """An answer of server-sent events."""
    answer = ScriptedAnswer(tuple(events), headers=(("content-type", "text/event-stream"),))
    return msgspec.structs.replace(answer, **more)


class ScriptedUpstream:
    """Use as `async with`; `url` is where it listens."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._server: asyncio.Server | None = None
        self.asked: list[ReceivedRequest] = []
        self.left = 0  # clients that went away before their answer ended
        self.url = ""

    async def __aenter__(self) -> ScriptedUpstream:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**20)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _request(reader)) is not None:
                self.asked.append(asked)
                answer = self._script(asked)
                if asked.method == "HEAD":
                    answer = msgspec.structs.replace(answer, chunks=())
                if not await self._say(answer, reader, writer, framed=asked.method != "HEAD"):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left += 1
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _say(
        self, answer: ScriptedAnswer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, framed: bool
    ) -> bool:
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
        writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{head}transfer-encoding: chunked\r\n\r\n".encode())
        for chunk in answer.chunks:
            if reader.at_eof():
                raise ConnectionResetError
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
            await asyncio.sleep(answer.pause)
        if answer.fault == "stall":
            await reader.read(1)  # until the client gives up
            raise ConnectionResetError
        if answer.fault == "reset":
            writer.transport.abort()
        if answer.fault:
            return False
        writer.write(b"0\r\n\r\n" if framed else b"")
        await writer.drain()
        return True


async def _request(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    chunked = any(name.lower() == "transfer-encoding" for name, _ in headers)
    return ReceivedRequest(
        method, path, headers, await _chunks(reader) if chunked else await reader.readexactly(length)
    )


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body
