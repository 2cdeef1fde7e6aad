"""An application that is put together when it is first asked: what nobody looks at takes no memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class OnDemandApplication:
    """Stands for the application that `make` returns. Imports take their time, so a thread makes it."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._making: asyncio.Future[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._making is None or self._has_failed():
            self._making = asyncio.ensure_future(asyncio.to_thread(self._make))
        app = await asyncio.shield(self._making)  # who leaves meanwhile does not end it
        await app(scope, receive, send)

    def _has_failed(self) -> bool:
        """Whether it has to be tried again."""
        making = self._making
        return making is not None and making.done() and (making.cancelled() or making.exception() is not None)
