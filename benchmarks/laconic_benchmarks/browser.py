"""A real browser without a window, driven through its debugging port: how long a page takes to load in it."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = ("--headless", "--disable-gpu", "--disable-background-networking", "--remote-debugging-port=0")
_TIME: Final = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_SECONDS: Final = 60.0


def installed() -> str | None:
    """The program, where there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._tab = ""

    async def open(self) -> None:
        target = await self._call("Target.createTarget", url="about:blank")
        attached = await self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._tab = attached["sessionId"]
        await self._call("Page.enable")

    async def load(self, url: str) -> float:
        """Milliseconds from the start of the navigation to the end of the load event."""
        await self._call("Page.navigate", url=url)
        while (await self._next()).get("method") != "Page.loadEventFired":
            pass
        while True:
            found = await self._call("Runtime.evaluate", expression=_TIME)
            if milliseconds := found["result"].get("value"):
                return float(milliseconds)

    async def _call(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        asked: dict[str, object] = {"id": self._number, "method": method, "params": params}
        await self._socket.send_json({**asked, "sessionId": self._tab} if self._tab else asked)
        while (said := await self._next()).get("id") != self._number:
            pass
        result: dict[str, Any] = said["result"]
        return result

    async def _next(self) -> dict[str, Any]:
        said: dict[str, Any] = await self._socket.receive_json(timeout=_SECONDS)
        return said


@asynccontextmanager
async def browser(program: str) -> AsyncIterator[Browser]:
    """A browser with a profile of its own, until the end of the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = [*_FLAGS, f"--user-data-dir={profile}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        process = await asyncio.create_subprocess_exec(
            program, *flags, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        try:
            async with asyncio.timeout(_SECONDS):
                while not (line := (await process.stderr.readline()).decode()).startswith("DevTools listening on "):
                    pass
            async with (
                aiohttp.ClientSession() as client,
                client.ws_connect(line.split()[-1], max_msg_size=0) as socket,
            ):
                tab = Browser(socket)
                await tab.open()
                yield tab
        finally:
            process.terminate()
            await process.wait()
