"""Split a stream of server-sent events where its events end. No byte is changed."""

from __future__ import annotations

import re
from typing import Final

_END: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class ServerSentEvents:
    """Holds what has arrived of the next event."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that are complete now, each with the blank line that ends it."""
        data = self._rest + chunk
        found = []
        at = 0
        for match in _END.finditer(data, max(0, len(self._rest) - 3)):
            found.append(data[at : match.end()])
            at = match.end()
        self._rest = data[at:]
        return found

    def close(self) -> bytes:
        """What is left of an event that never ended."""
        rest, self._rest = self._rest, b""
        return rest


def data_of(event: bytes) -> bytes:
    """The data of an event; several lines are joined as the standard says."""
    lines = []
    for line in event.splitlines():
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
    return b"\n".join(lines)


def event_of(data: bytes, name: str = "") -> bytes:
    """An event of ours."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"
