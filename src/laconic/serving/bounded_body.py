"""Read the body of a request, and stop as soon as it is longer than it may be."""

from __future__ import annotations

from starlette.requests import Request


async def read_bounded(request: Request, most: int) -> bytes | None:
    """The body; None if it is longer than `most` bytes."""
    body = bytearray()  # grows in place: joining bytes anew with every piece would take quadratic time
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
