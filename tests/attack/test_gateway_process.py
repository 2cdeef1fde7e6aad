"""The whole gateway over HTTP: clients at once, and a process that is killed in the middle of its work."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import aiohttp
from tests.gateway.stage import Stage, play

from laconic.gateway.scripted_upstream import ScriptedAnswer, ScriptedUpstream
from laconic_benchmarks.attack.conversations import Branch, ClientSession, Player, open_session
from laconic_benchmarks.attack.gateways import ARCHIVE, MovedClock, build_planner
from laconic_benchmarks.attack.laws import ArchiveReader, IncomingRequest, check_sent

SETTINGS = {"context.standard": 5_000, "context.semantic": 500}


def _path(session: ClientSession) -> str:
    return session.target.path


def _problems(request: IncomingRequest, out: bytes, archive: ArchiveReader) -> list[str]:
    return [f"{one.law}: {one.detail}" for one in check_sent(request, out, archive)][:3]


def test_sessions_over_http_lose_nothing(tmp_path: Path) -> None:
    """Four clients that take turns; every request arrives at the provider."""
    random = Random(5)
    sessions = [open_session(random, number, shared_key=True, small=True) for number in range(4)]
    player = Player(random)

    async def scene(where: Stage) -> None:
        archive = ArchiveReader(tmp_path / ARCHIVE)
        for step in range(80):
            session = sessions[step % 4]
            player.extend(session, session.branches[0])
            request = session.request(session.branches[0])
            headers = {"content-type": "application/json", **session.headers}
            where.upstream.asked.clear()
            status, _, _ = await where.post(_path(session), request.body.encode(), **headers)
            assert status == 200
            assert _problems(request, where.upstream.asked[-1].body, archive) == []

    play(scene, lambda _: ScriptedAnswer(), build_planner(tmp_path, MovedClock(), SETTINGS).exchange.engine)


@asynccontextmanager
async def _gateway(folder: Path, upstream: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The program itself, as a user starts it."""
    own = {f"LACONIC_{name.upper().replace('.', '_')}": str(value) for name, value in SETTINGS.items()}
    places = {"LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_STATE_DIR": str(folder / "state")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "laconic", "gateway", "--listen", "127.0.0.1:0"),
        *("--anthropic-url", upstream, "--openai-url", upstream, "--gemini-url", upstream),
        env={**os.environ, **own, **places, "LACONIC_GATEWAY_PROBE": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    said = (await process.stdout.readline()).decode()
    try:
        yield process, said.split()[-1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _killed(folder: Path, kills: int) -> list[str]:
    """Grow one session; kill the gateway soon after a request was sent, start it again, and go on with the session."""
    random = Random(11)
    session = open_session(random, 1, shared_key=True, small=True)
    branch: Branch = session.branches[0]
    player, archive = Player(random), ArchiveReader(folder / "cache" / ARCHIVE)
    headers = {"content-type": "application/json", **session.headers}
    problems: list[str] = []
    async with ScriptedUpstream(lambda _: ScriptedAnswer()) as upstream, aiohttp.ClientSession() as client:
        for _ in range(kills):
            async with _gateway(folder, upstream.url) as (process, base):
                for step in range(8):
                    player.grow(session, branch, 3)
                    request = session.request(branch)
                    sending = asyncio.ensure_future(
                        client.post(base + _path(session), data=request.body.encode(), headers=headers)
                    )
                    if step == 7:
                        await asyncio.sleep(random.uniform(0, 0.05))
                        process.send_signal(signal.SIGKILL)
                        await asyncio.gather(sending, return_exceptions=True)
                        break
                    async with await sending as answer:
                        if answer.status != 200:
                            problems.append(f"refused with {answer.status}: {(await answer.read())[:300]!r}")
                    problems += _problems(request, upstream.asked[-1].body, archive)
    return problems


def test_a_gateway_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    assert asyncio.run(asyncio.wait_for(_killed(tmp_path, 4), 120)) == []
