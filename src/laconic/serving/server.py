"""A server for one application, with room for connections and bounds on each of them."""

from __future__ import annotations

import logging
import math
import signal
import sys
import time
from contextlib import suppress
from socket import socket
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from laconic.serving.connection_limits import BoundedProtocol, BoundedState, ConnectionBounds
from laconic.serving.garbage_collection import GarbageCollection
from laconic.serving.listen import ListenAddress
from laconic.serving.readiness import Readiness

_SWITCH: Final = 0.0001  # seconds: while one request is worked on in a thread, the streams of others go on
_DESCRIPTORS: Final = (65_536, 10_240)  # more is never needed; macOS takes no more than the second


class BoundedServer(uvicorn.Server):
    """A server whose connections keep to bounds."""

    def __init__(self, config: uvicorn.Config, bounds: ConnectionBounds, readiness: Readiness) -> None:
        super().__init__(config)
        self.server_state = self._state = BoundedState(bounds)
        self._garbage = GarbageCollection()
        self._readiness = readiness
        self._leave_at = float("inf")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        is_first, self._readiness.draining = not self._readiness.draining, True
        if is_first and sig == signal.SIGTERM and self._readiness.notice:
            self._captured_signals.append(sig)
            self._leave_at = time.monotonic() + self._readiness.notice
            return
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self._garbage.begin()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._garbage.end()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        self._garbage.look(self._state.total_requests, busy=self._state.is_busy)
        if time.monotonic() >= self._leave_at:
            self.should_exit = True
        return await super().on_tick(counter)


def server_for(
    app: ASGIApp,
    where: ListenAddress,
    bounds: ConnectionBounds | None = None,
    readiness: Readiness | None = None,
) -> BoundedServer:
    """A server, not yet running."""
    readiness = readiness or Readiness()
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    sys.setswitchinterval(_SWITCH)
    descriptors = raise_descriptor_limit()
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=120,  # longer than clients keep idle connections: they close first
        timeout_graceful_shutdown=math.ceil(readiness.longest),
        ssl_certfile=where.certificate or None,
        ssl_keyfile=where.key or None,
    )
    if bounds is None:  # a request that is passed on takes two descriptors
        bounds = ConnectionBounds(waiting=min(1024, descriptors // 4), answering=descriptors * 3 // 8)
    return BoundedServer(config, bounds, readiness)


def raise_descriptor_limit() -> int:
    """Allow this process as many open files as it may have without asking; returns how many."""
    if sys.platform == "win32":
        return 2_048
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in _DESCRIPTORS:
        if hard == resource.RLIM_INFINITY:
            most = wanted
        else:
            most = min(wanted, hard)
        if soft == resource.RLIM_INFINITY or soft >= most:
            return most
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return most
    return soft
