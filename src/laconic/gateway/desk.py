"""Where the engine is asked: one question at a time, large ones in a thread so that streams of others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Desk:
    """One thread, and the loop itself for what takes less time than waking that thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "engine")
        self._free = Lock()

    async def ask(self, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """In the thread, after those that wait already."""
        return await asyncio.wrap_future(self._thread.submit(self._alone, partial(work, *args, **more)))

    async def ask_quick(self, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """Here and now when nobody is being served, else in the thread."""
        if not self._free.acquire(blocking=False):
            return await self.ask(work, *args, **more)
        try:
            return work(*args, **more)
        finally:
            self._free.release()

    def tell(self, work: Callable[P, object], *args: P.args, **more: P.kwargs) -> None:
        """What takes no time, now or in the thread; nobody waits for it, so it is done even when the client leaves."""
        if self._free.acquire(blocking=False):
            try:
                work(*args, **more)
            finally:
                self._free.release()
        else:
            self._thread.submit(self._alone, partial(work, *args, **more))

    def close(self) -> None:
        self._thread.shutdown(wait=False)

    def _alone(self, work: Callable[[], T]) -> T:
        with self._free:
            return work()
