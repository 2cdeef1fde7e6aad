"""A client on standard input and output, and its relay."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Final

import msgspec

from laconic.mcp_proxy.messages import Identifier, Message, is_notification
from laconic.mcp_proxy.relay import MakeRelay
from laconic.serving.line_repair import UnreadableMessage, repair_line
from laconic.serving.stdio_lines import LineReader

_QUEUED: Final = 500  # messages that wait for a client; while they do, notifications of a flood are dropped


async def serve_stdio(make: MakeRelay, lines: LineReader) -> None:
    """Run until the client closes the stream, or until we are told to end: no server may outlive us."""
    with suppress(NotImplementedError):  # Windows, where a process that is ended hears nothing of it
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lines.end)
    outgoing: asyncio.Queue[bytes] = asyncio.Queue()

    def send(message: Message, related: Identifier | None) -> None:
        if outgoing.qsize() < _QUEUED or not is_notification(message):
            outgoing.put_nowait(msgspec.json.encode(message))

    relay = make(send)
    writer = asyncio.create_task(_write(outgoing, lines))
    try:
        while line := await asyncio.to_thread(lines.wait):
            try:
                message = msgspec.json.decode(repair_line(line))
            except UnreadableMessage as unusable:
                outgoing.put_nowait(unusable.answer)
                continue
            for one in message if isinstance(message, list) else [message]:
                if isinstance(one, dict):
                    relay.receive(one)
    finally:
        await relay.close()
        writer.cancel()
        with suppress(asyncio.CancelledError):
            await writer


async def _write(outgoing: asyncio.Queue[bytes], lines: LineReader) -> None:
    while True:
        await asyncio.to_thread(lines.say, await outgoing.get())
