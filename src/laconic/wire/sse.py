"""Split a stream of server-sent events where its events end. No byte is changed."""

from __future__ import annotations

import re
from typing import Final

_END: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LONGEST: Final = 16 * 2**20  # bytes of an event that is waited for


class ServerSentEvents:
    """Holds what has arrived of the next event, unless that is absurdly long."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that are complete now, each with the blank line that ends it."""
        looked = max(0, len(self._rest) - 3)
        data = self._rest
        data += chunk
        found = []
        at = 0
        for match in _END.finditer(data, looked):
            found.append(bytes(data[at : match.end()]))
            at = match.end()
        self._rest = data[at:] if at else data
        if len(self._rest) > _LONGEST:
            found.append(self.close())
        return found

    def close(self) -> bytes:
        """What is left of an event that never ended."""
        rest, self._rest = bytes(self._rest), bytearray()
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
