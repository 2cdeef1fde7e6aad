"""Sessions to be explained: those that clients recorded, and those of our own record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from laconic.conversation.cost_causes import MeasuredRequest, MeasuredSession
from laconic.exchange.turn_evidence import read_evidence
from laconic.sessions.recorded.record import RecordedRequest, RecordedSession
from laconic.sessions.spending import SessionRow, Spending, TurnRow
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


def measure_own(spending: Spending, since: float = 0.0) -> Iterator[MeasuredSession]:
    """Sessions that went through the gateway, or were the agent's, since a moment."""
    sessions = {}
    for row in spending.single_sessions(since):
        sessions[row.session] = row
    for name, turns in groupby(spending.all_turns(since), key=itemgetter(0)):
        session = sessions.get(name)
        if session is None:
            continue  # it began a moment ago
        requests = []
        for _, turn in turns:
            if turn.prompt:
                requests.append(_measure_turn(turn, session))
        if requests:
            yield MeasuredSession(
                name=name,
                requests=tuple(requests),
                title=session.title,
                client=session.client,
                project=session.project,
            )


def _measure_turn(turn: TurnRow, session: SessionRow) -> MeasuredRequest:
    evidence = read_evidence(turn.evidence)
    usage = Usage(
        input=turn.input,
        cache_read=turn.cache_read,
        cache_write=turn.cache_write,
        output=turn.output,
        long=turn.long,
    )
    is_free = not turn.dollars and not turn.unpriced
    request = MeasuredRequest(
        usage=usage, at=turn.at - turn.milliseconds / 1000, model=session.model, mode=turn.mode, free=is_free
    )
    if evidence is None:
        return request
    return msgspec.structs.replace(request, model=evidence.model, change=evidence.change, repaired=evidence.repaired)
