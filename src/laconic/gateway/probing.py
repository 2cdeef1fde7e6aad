"""Ask a provider on first use whether a model has function calling, with the client's own key, once for all clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import aiohttp
from yarl import URL

from laconic.config import outbound_proxy
from laconic.gateway.headers import upward
from laconic.gateway.metrics import Metrics
from laconic.gateway.routes import Target
from laconic.wire.prompted.probe import declared, described, question, shown

log = logging.getLogger("laconic.gateway")
_LISTED: Final = 5.0  # seconds for a list
_ANSWERED: Final = 30.0  # seconds for an answer: a local model is loaded first
_LATER: Final = 600.0  # seconds until a model is asked again that did not show anything
_GONE: Final = frozenset({"content-encoding", "accept-encoding", "content-type"})

Raw = list[tuple[bytes, bytes]]


class Probes:
    """Those under way, and those that showed nothing. What they show is for the caller to remember."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._metrics = metrics
        self._clock = clock
        self._running: dict[tuple[str, str], asyncio.Task[str]] = {}
        self._silent: dict[tuple[str, str], float] = {}

    async def verdict(self, client: aiohttp.ClientSession, where: Target, query: str, raw: Raw, model: str) -> str:
        """`native`, `prompted`, or nothing. A client that leaves does not stop the question: others wait for it."""
        name = (where.upstream, model)
        if self._silent.get(name, 0.0) > self._clock():
            return ""
        if name not in self._running:
            self._running[name] = asyncio.ensure_future(self._ask(client, where, query, raw, model))
            self._running[name].add_done_callback(lambda _: self._running.pop(name, None))
        found = await asyncio.shield(self._running[name])
        if not found:
            self._silent[name] = self._clock() + _LATER
        return found

    def close(self) -> None:
        for task in self._running.values():
            task.cancel()

    async def _ask(self, client: aiohttp.ClientSession, where: Target, query: str, raw: Raw, model: str) -> str:
        """What the provider declares, else what the model does. Whatever goes wrong shows nothing."""
        headers = [(name, value) for name, value in upward(raw) if name.lower() not in _GONE]
        found, how = "", "declared"
        if where.format in {"chat", "responses"}:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                found = await _listed(client, where, headers, model)
        if not found:
            how = "probe"
            address = URL(where.base + where.path + (f"?{query}" if query else ""), encoded=True)
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                found = shown(*await _post(client, address, headers, question(where.format, model), _ANSWERED))
        self._metrics.add("laconic_probes_total", upstream=where.upstream, found=found or "nothing", how=how)
        log.info("a model was probed", extra={"upstream": where.upstream, "action": found or "nothing", "how": how})
        return found


async def _listed(client: aiohttp.ClientSession, where: Target, headers: list[tuple[str, str]], model: str) -> str:
    """From the list of models beside the path of the request; Ollama says it under a path of its own."""
    root = where.path.removesuffix("/chat/completions").removesuffix("/responses")
    address = URL(f"{where.base}{root}/models", encoded=True)
    brief = aiohttp.ClientTimeout(total=_LISTED)
    proxy = outbound_proxy(str(address))
    async with client.get(address, headers=headers, timeout=brief, allow_redirects=False, proxy=proxy) as answer:
        said = await answer.read() if answer.status == 200 else b""
    if found := declared(said, model):
        return found
    if b'"library"' not in said:  # the owner of all models there
        return ""
    wanted = question("chat", model)  # only its `model` is looked at
    status, said = await _post(client, URL(f"{where.base}/api/show", encoded=True), headers, wanted, _LISTED)
    return described(said) if status == 200 else ""


async def _post(
    client: aiohttp.ClientSession, address: URL, headers: list[tuple[str, str]], body: bytes, seconds: float
) -> tuple[int, bytes]:
    typed = [*headers, ("content-type", "application/json")]
    brief = aiohttp.ClientTimeout(total=seconds)
    proxy = outbound_proxy(str(address))
    async with client.post(
        address, headers=typed, data=body, timeout=brief, allow_redirects=False, proxy=proxy
    ) as answer:
        return answer.status, await answer.read()
