"""Ask an Ollama server how much of a prompt it takes, beside the requests that go there: they say nothing about it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import msgspec

from laconic.exchange.caller import Caller, Target
from laconic.gateway.routes import FindProxy
from laconic.gateway.upstream_session import read_start
from laconic.wire.ollama import read_loaded_window, read_set_window

log = logging.getLogger("laconic.gateway")
_LARGEST: Final = 16 * 2**20  # bytes of an answer that are read
_PORT: Final = 11434
_NAME: Final = "ollama"
_WAIT: Final = aiohttp.ClientTimeout(total=5.0)
_LATER: Final = 600.0  # seconds until it is asked again: a model may be loaded anew with another window


class WindowProbes:
    """Those under way, and when a model may be asked for again. `learn` hears of the windows."""

    def __init__(
        self, clock: Callable[[], float], learn: Callable[[Caller, int], None], find_proxy: FindProxy
    ) -> None:
        self._clock = clock
        self._learn = learn
        self._find_proxy = find_proxy
        self._running: set[asyncio.Task[None]] = set()
        self._not_before: dict[tuple[str, str], float] = {}

    def begin(self, client: aiohttp.ClientSession, where: Target, caller: Caller) -> None:
        """Ask in the background, if it is an Ollama server, and has not been asked lately."""
        name = (where.base, caller.model)
        if not is_ollama(where) or self._not_before.get(name, 0.0) > self._clock():
            return
        self._not_before[name] = self._clock() + _LATER
        task = asyncio.ensure_future(self._ask(client, where.base, caller))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def close(self) -> None:
        for task in list(self._running):
            task.cancel()

    async def _ask(self, client: aiohttp.ClientSession, base: str, caller: Caller) -> None:
        """What it has loaded counts; where it does not say, what the model's settings say."""
        window = 0
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            window = read_loaded_window(await self._fetch(client, "GET", f"{base}/api/ps"), caller.model)
            if not window:
                wanted = msgspec.json.encode({"model": caller.model})
                window = read_set_window(await self._fetch(client, "POST", f"{base}/api/show", wanted))
        if window:
            log.info("a server said its window", extra={"model": caller.model, "window": window})
            self._learn(caller, window)

    async def _fetch(
        self, client: aiohttp.ClientSession, method: str, address: str, body: bytes | None = None
    ) -> bytes:
        headers = {"content-type": "application/json"}
        proxy = self._find_proxy(address)
        async with client.request(
            method, address, data=body, headers=headers, timeout=_WAIT, allow_redirects=False, proxy=proxy
        ) as answer:
            if answer.status == 200:
                return await read_start(answer, _LARGEST)
            return b""


def is_ollama(where: Target) -> bool:
    """By the name that the settings give it, or by its port."""
    return where.upstream == _NAME or urlsplit(where.base).port == _PORT
