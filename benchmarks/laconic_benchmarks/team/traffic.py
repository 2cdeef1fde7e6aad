"""TeamClients of a team: recorded sessions, turn by turn, each asked again until it is answered."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.sessions.transcripts import transcripts
from laconic_benchmarks.gateway import history

_EVENT: Final = b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"word"}}\n\n'
_END: Final = b'event: message_delta\ndata: {"usage":{"output_tokens":2}}\n\nevent: message_stop\ndata: {}\n\n'
_TRIES: Final = 40  # of one turn
_LONGEST: Final = 400_000  # bytes of a request: longer sessions are cut there
_HEADER: Final = "x-turn"


@dataclass(frozen=True)
class TeamSession:
    """One session, with a mark of its own in its first message."""

    name: str
    turns: tuple[bytes, ...]  # the body of each request


def read_sessions(data: str, count: int) -> list[TeamSession]:
    """Recorded sessions of about the same length, as they come; made up ones where there are no records."""
    folder = Path(data) / "trajectories"
    found: list[TeamSession] = []
    if folder.is_dir():
        for session in transcripts(folder):
            if session.split in {"", "dev"} and 40 <= len(session.messages) <= 120:
                found.append(_make(f"s{len(found)}", session.messages))
            if len(found) == count:
                break
    if not found:
        return [_make(f"s{number}", history(20_000 + 1000 * number)) for number in range(count)]
    return found


def _make(name: str, messages: Sequence[Any]) -> TeamSession:
    marked = [{"role": "user", "content": f"Session {name} of a team."}, {"role": "assistant", "content": "Yes."}]
    marked += messages
    turns = []
    for at, message in enumerate(marked, 1):
        if message["role"] != "user":
            continue
        request = {"model": "claude-sonnet-4-5", "stream": True, "max_tokens": 99, "messages": marked[:at]}
        body = json.dumps(request, ensure_ascii=False).encode()
        if len(body) > _LONGEST:
            break
        turns.append(body)
    return TeamSession(name, tuple(turns))


@dataclass
class RecordingProvider:
    """Answers everything, and keeps what it was sent, by session and turn."""

    events: int = 3
    pause: float = 0.0
    received: dict[str, set[bytes]] = field(default_factory=dict)

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        self.received.setdefault(asked.header(_HEADER), set()).add(asked.body)
        return streamed([_EVENT] * self.events + [_END], pause=self.pause)


class TeamClients:
    """Sessions at once; the turns of one session follow each other."""

    def __init__(self, base: str, events: int = 3) -> None:
        self._base = base
        self._wanted = _EVENT * events + _END
        self.found: Counter[str] = Counter()

    async def run(self, sessions: Iterable[TeamSession], *, at_once: int = 6) -> None:
        """All turns of all sessions."""
        limit = asyncio.Semaphore(at_once)
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector) as client:
            await asyncio.gather(*(self._session(client, limit, session) for session in sessions))

    async def _session(self, client: aiohttp.ClientSession, limit: asyncio.Semaphore, session: TeamSession) -> None:
        async with limit:
            for number, body in enumerate(session.turns):
                await self.turn(client, f"{session.name}/{number}", body)

    async def turn(self, client: aiohttp.ClientSession, name: str, body: bytes) -> None:
        """Ask until it is answered whole."""
        for _ in range(_TRIES):
            saw = await self._ask(client, name, body)
            self.found[saw] += 1
            if saw == "whole":
                return
            await asyncio.sleep(0.2)
        self.found["given up"] += 1

    async def _ask(self, client: aiohttp.ClientSession, name: str, body: bytes) -> str:
        headers = {_HEADER: name, "x-api-key": "k", "content-type": "application/json"}
        try:
            async with client.post(self._base + "/v1/messages", data=body, headers=headers) as answer:
                got = await answer.read()
                if answer.status != 200:
                    return f"status {answer.status}"
        except aiohttp.ClientError:
            return "broken off"
        if got == self._wanted:
            return "whole"
        return "altered"
