"""Sessions to be explained: those that clients recorded, and those of our own record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from laconic.conversation.cost_causes import MeasuredRequest, MeasuredSession
from laconic.sessions.recorded.record import RecordedRequest, RecordedSession
from laconic.wire.usage import Usage


def measure_recorded(sessions: Iterable[RecordedSession]) -> Iterator[MeasuredSession]:
    """Sessions of clients that wrote down what their requests used."""
    for session in sessions:
        if session.requests:
            yield MeasuredSession(
                name=session.name,
                requests=tuple(_measure(request, session.model) for request in session.requests),
                title=session.title,
                client=session.client,
                project=session.project,
            )


def _measure(request: RecordedRequest, model: str) -> MeasuredRequest:
    used = request.usage
    return MeasuredRequest(
        usage=Usage(
            input=used.input,
            cache_read=used.cache_read,
            cache_write=used.cache_write,
            output=used.output,
            long=used.long,
        ),
        at=request.at,
        model=request.model or model,
        compacted=request.compacted,
        blocks=request.blocks,
    )
