"""Ask a provider on first use whether a model has function calling, with the client's own key, once for all clients.

No request waits for it: what is found holds for those that come after. Lists of models are free. A question to the model
itself is not, except on this machine and in a private network: only models there are asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import aiohttp
from yarl import URL

from laconic.exchange.caller import Target
from laconic.gateway.headers import upward
from laconic.gateway.metrics import Metrics
from laconic.gateway.routes import FindProxy
from laconic.gateway.upstream_session import read_start
from laconic.local_addresses import is_local
from laconic.wire.prompted_tool_calls.probe import question, read_answer, read_description, read_listing
from laconic.wire.refusals import refuses_tools

log = logging.getLogger("laconic.gateway")
_LARGEST: Final = 16 * 2**20  # bytes of an answer that are read
_LISTED: Final = 5.0  # seconds for a list
_ANSWERED: Final = 30.0  # seconds for an answer: a local model is loaded first
_LATER: Final = 600.0  # seconds until a model may be asked again
_GONE: Final = frozenset({"content-encoding", "accept-encoding", "content-type"})

Raw = list[tuple[bytes, bytes]]


class CapabilityProbes:
    """Those under way, and when a model may be asked again. `learn` hears of what they showed."""

    def __init__(
        self,
        metrics: Metrics,
        clock: Callable[[], float],
        learn: Callable[[Target, str, str], None],
        find_proxy: FindProxy,
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._learn = learn
        self._find_proxy = find_proxy
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._not_before: dict[tuple[str, str], float] = {}

    def begin(self, client: aiohttp.ClientSession, where: Target, query: str, raw: Raw, model: str) -> None:
        """Ask in the background, unless that is done already, or was in vain not long ago."""
        name = (where.base, model)
        if name not in self._running and self._not_before.get(name, 0.0) <= self._clock():
            self._running[name] = asyncio.ensure_future(self._probe(client, where, query, raw, model))

    async def _probe(self, client: aiohttp.ClientSession, where: Target, query: str, raw: Raw, model: str) -> None:
        name = (where.base, model)
        try:
            found = await self._ask(client, where, query, raw, model)
            if found:
                self._learn(where, model, found)
        except Exception:
            log.exception("a model could not be probed")
        finally:
            # Whatever it showed: a request that was planned before that is known must not ask again.
            self._not_before[name] = self._clock() + _LATER
            del self._running[name]

    def close(self) -> None:
        for task in list(self._running.values()):
            task.cancel()

    async def _ask(self, client: aiohttp.ClientSession, where: Target, query: str, raw: Raw, model: str) -> str:
        """What the provider declares, else what the model does. Whatever goes wrong shows nothing."""
        headers = []
        for name, value in upward(raw):
            if name.lower() not in _GONE:
                headers.append((name, value))
        found, how = "", "declared"
        if where.format in {"chat", "responses"}:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                found = await self._listed(client, where, headers, model)
        if not found and is_local(where.base):
            how = "probe"
            address = URL(where.base + where.path + (f"?{query}" if query else ""), encoded=True)
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                found = await self._asked(client, address, headers, question(where.format, model))
        self._metrics.add("laconic_probes_total", upstream=where.upstream, found=found or "nothing", how=how)
        log.info("a model was probed", extra={"upstream": where.upstream, "action": found or "nothing", "how": how})
        return found

    async def _asked(
        self, client: aiohttp.ClientSession, address: URL, headers: list[tuple[str, str]], body: bytes
    ) -> str:
        """What the model does when it is told to call a tool. One answer in plain words is no proof that it cannot."""
        found = ""
        for _ in range(2):
            status, said = await self._post(client, address, headers, body, _ANSWERED)
            found = read_answer(status, said)
            if found != "prompted" or refuses_tools(status, said):
                break
        return found

    async def _listed(
        self, client: aiohttp.ClientSession, where: Target, headers: list[tuple[str, str]], model: str
    ) -> str:
        """From the list of models beside the path of the request; Ollama says it under a path of its own."""
        root = where.path.removesuffix("/chat/completions").removesuffix("/responses")
        address = URL(f"{where.base}{root}/models", encoded=True)
        brief = aiohttp.ClientTimeout(total=_LISTED)
        proxy = self._find_proxy(str(address))
        async with client.get(address, headers=headers, timeout=brief, allow_redirects=False, proxy=proxy) as answer:
            said = b""
            if answer.status == 200:
                said = await read_start(answer, _LARGEST)
        if found := read_listing(said, model):
            return found
        if b'"library"' not in said:  # the owner of all models there
            return ""
        wanted = question("chat", model)  # only its `model` is looked at
        status, said = await self._post(client, URL(f"{where.base}/api/show", encoded=True), headers, wanted, _LISTED)
        if status == 200:
            return read_description(said)
        return ""

    async def _post(
        self, client: aiohttp.ClientSession, address: URL, headers: list[tuple[str, str]], body: bytes, seconds: float
    ) -> tuple[int, bytes]:
        typed = [*headers, ("content-type", "application/json")]
        brief = aiohttp.ClientTimeout(total=seconds)
        proxy = self._find_proxy(str(address))
        async with client.post(
            address, headers=typed, data=body, timeout=brief, allow_redirects=False, proxy=proxy
        ) as answer:
            return answer.status, await read_start(answer, _LARGEST)
