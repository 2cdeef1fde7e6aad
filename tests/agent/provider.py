"""A provider on loopback, in a thread of its own, with a scripted model behind each of its three paths."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType

from laconic.agent.scripted_model import ModelScript, ScriptedModel
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.tokens.count import counter


class Provider:
    """Use as `with`; `url` is where it listens, `asked` what it was asked."""

    def __init__(self, answer: Callable[[ReceivedRequest], ScriptedAnswer]) -> None:
        self._upstream = ScriptedUpstream(answer)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    @property
    def url(self) -> str:
        return self._upstream.url

    @property
    def asked(self) -> list[ReceivedRequest]:
        return self._upstream.asked

    def __enter__(self) -> Provider:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        async with self._upstream:
            self._ready.set()
            await self._over.wait()


def format_of(path: str) -> str:
    return "anthropic" if path.endswith("/messages") else "gemini" if "generateContent" in path.lower() else "chat"


def following(script: ModelScript) -> Callable[[ReceivedRequest], ScriptedAnswer]:
    """Answers by rules, in the words of whoever is asked."""

    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        format = "gemini" if ":stream" in asked.path else format_of(asked.path.split("?")[0])
        reply = ScriptedModel(script, format, counter()).post(asked.body)
        return ScriptedAnswer(tuple(reply.chunks), reply.status, tuple(reply.headers.items()))

    return answer
