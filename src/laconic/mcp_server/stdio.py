"""Serve MCP on standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from laconic.config import Settings
from laconic.mcp_server.handshake import HandshakeResult, answer_handshake
from laconic.serving.line_repair import UnreadableMessage, repair_line
from laconic.serving.stdio_lines import LineReader

if TYPE_CHECKING:
    from anyio import AsyncFile


def serve(
    root: Path,
    settings: Settings,
    *,
    editing: bool = False,
    behind_gateway: bool = False,
    listed: Callable[[], None] = lambda: None,
) -> None:
    """Run until the client closes the stream. `listed` is called when the client is sent the tools."""
    lines = LineReader.claim()
    greeted = answer_handshake(
        lines,
        editing=editing,
        running=bool(settings.patterns("report.allow")),
        without_resources=settings.patterns("mcp.without_resources"),
        listed=listed,
    )
    if not greeted.ended:
        asyncio.run(answer(root, settings, editing, lines, greeted, behind_gateway=behind_gateway, listed=listed))


async def answer(
    root: Path,
    settings: Settings,
    editing: bool,
    lines: LineReader,
    greeted: HandshakeResult,
    *,
    behind_gateway: bool = False,
    listed: Callable[[], None] = lambda: None,
) -> None:
    """Let the SDK's server answer what was not answered yet."""
    from mcp.server.stdio import stdio_server  # slow to load: the client has its first answers

    from laconic.mcp_server.server import CodePlane

    server = CodePlane(root, settings, editing=editing, behind_gateway=behind_gateway, listed=listed).server()
    incoming = cast("AsyncFile[str]", _Incoming(lines, greeted.replay))
    outgoing = cast("AsyncFile[str]", _Outgoing(lines, greeted.answered))
    async with stdio_server(incoming, outgoing) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


class _Incoming:
    """The lines of a client as the SDK reads them: those that wait first."""

    def __init__(self, lines: LineReader, replay: tuple[bytes, ...]) -> None:
        self._lines = lines
        self._replay = replay

    async def __aiter__(self) -> AsyncIterator[str]:
        from anyio.to_thread import run_sync  # loaded with the SDK

        for line in self._replay:
            for message in self._readable(line):
                yield message
        while line := await run_sync(self._lines.wait, abandon_on_cancel=True):
            for message in self._readable(line):
                yield message

    def _readable(self, line: bytes) -> Iterator[str]:
        try:
            yield repair_line(line).decode(errors="replace")
        except UnreadableMessage as unusable:
            self._lines.say(unusable.answer)


class _Outgoing:
    """Where the SDK writes; the one answer that the client has already is kept back."""

    def __init__(self, lines: LineReader, answered: str | int | None) -> None:
        self._lines = lines
        self._answered = answered

    async def write(self, text: str) -> None:
        from anyio.to_thread import run_sync  # loaded with the SDK

        message = text.encode()
        if self._answered is not None and msgspec.json.decode(message).get("id") == self._answered:
            self._answered = None
            return
        await run_sync(self._lines.say, message.rstrip(b"\n"))

    async def flush(self) -> None:
        """Nothing is held back."""
