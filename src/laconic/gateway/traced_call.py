"""One request with its answer, as telemetry is told of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from laconic.exchange.caller import Target
from laconic.exchange.plan import Plan
from laconic.gateway.response_relay import ResponseRelay
from laconic.serving.telemetry import TracedCall
from laconic.wire.usage import Usage

_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = 100  # characters of a model


def describe_call(
    where: Target,
    method: str,
    headers: Mapping[str, str],
    plan: Plan,
    passing: ResponseRelay,
    *,
    times: tuple[int, int],
    fault: str,
) -> TracedCall:
    """`times`: when it arrived, and when it went to the provider."""
    usage = passing.usage or Usage()
    for _, used in passing.rounds:
        usage = usage + (used or Usage())
    address = urlsplit(where.base)
    return TracedCall(
        provider=where.upstream,
        format=where.format,
        method=method,
        arrived=times[0],
        prepared=times[1],
        ended=time.time_ns(),
        model=plan.caller.model[:_NAME] if plan.caller else "",
        session=plan.caller.session if plan.caller else "",
        address=address.hostname or "",
        port=address.port or _PORTS.get(address.scheme, 0),
        status=passing.status,
        fault=fault,
        prompt=usage.prompt,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        output=usage.output,
        bytes_received=plan.came,
        bytes_sent=plan.went,
        action=plan.notes.get("action", ""),
        parent=headers.get("traceparent", ""),
    )
