"""The child process that parses: frames of files in, one frame for each file out, until its input ends.

It holds no state that matters: whoever started it may kill it at any moment.
"""

from __future__ import annotations

import sys
from typing import IO

import msgspec

from laconic.index.content_record import ContentRecord, read_content

HEAD = 4  # bytes of the length before every frame


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame, or nothing at the end of the stream."""
    head = stream.read(HEAD)
    if len(head) < HEAD:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    if len(body) == size:
        return body
    return None


def write_frame(stream: IO[bytes], body: bytes) -> None:
    stream.write(len(body).to_bytes(HEAD, "big") + body)
    stream.flush()


def serve(incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Answer each file of each batch in turn."""
    batches = msgspec.msgpack.Decoder(list[tuple[str, bytes]])
    encoder = msgspec.msgpack.Encoder()
    while (frame := read_frame(incoming)) is not None:
        for path, data in batches.decode(frame):
            write_frame(outgoing, encoder.encode(_parse_guarded(path, data)))


def _parse_guarded(path: str, data: bytes) -> ContentRecord | str:
    """The record of a file, or in words why it could not be parsed: a process edge, so nothing may escape."""
    try:
        return read_content(path, data)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"[:300]


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
