"""Locked, damaged and vanished files cost tokens or figures, never an answer, and `/metrics` says so."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvicorn

from laconic.cli.commands.gateway import application
from laconic.config import load
from laconic.gateway.routes import Upstreams
from laconic.gateway.scripted_upstream import ScriptedAnswer, ScriptedUpstream
from laconic.serving.listen import bind, listen
from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.spending import Spending

FILES = ("archive.sqlite", "ledger.sqlite", "turns.sqlite")
TOKEN = "word"
USAGE = b'{"usage":{"input_tokens":9,"output_tokens":2}}'


class Gateway:
    """The gateway as it is started from a shell, and one client of it."""

    def __init__(self, client: aiohttp.ClientSession, base: str, upstream: ScriptedUpstream) -> None:
        self._client = client
        self._base = base
        self._upstream = upstream
        self._messages: dict[str, list[Any]] = {}

    async def turn(self, name: str = "a") -> float:
        """One turn more of a conversation: which share of its bytes was sent."""
        messages = self._messages.setdefault(name, [{"role": "user", "content": f"begin {name}"}])
        number = len(messages)
        log = "\n".join(f"12:00:{n % 60:02} INFO step {n} of {number} finished without a word" for n in range(300))
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"make {number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": log}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        body = json.dumps({"model": "claude-sonnet-4-5", "messages": messages}).encode()
        async with self._client.post(f"{self._base}/v1/messages", data=body) as answer:
            assert answer.status == 200
            assert await answer.read() == USAGE
        return len(self._upstream.asked[-1].body) / len(body)

    async def faults(self) -> dict[str, float]:
        async with self._client.get(f"{self._base}/metrics", headers={"x-laconic-token": TOKEN}) as answer:
            lines = (await answer.text()).splitlines()
        rows = [line.rsplit(" ", 1) for line in lines if line.startswith("laconic_store_faults_total{")]
        return {labels.partition("{")[2].rstrip("}"): float(value) for labels, value in rows}


def _play(folder: Path, scene: Callable[[Gateway], Awaitable[None]]) -> None:
    async def run() -> None:
        async with ScriptedUpstream(lambda asked: ScriptedAnswer((USAGE,))) as upstream:
            given = {"cache_dir": str(folder / "cache"), "state_dir": str(folder / "state"), "gateway.token": TOKEN}
            known = Upstreams(upstream.url, upstream.url, upstream.url, {})
            opened = bind(listen("127.0.0.1:0", "", "", "", insecure=False))
            app = application(known, load(given, environ={}), off=False)
            server = uvicorn.Server(uvicorn.Config(app, http="httptools", ws="none", log_config=None))
            serving = asyncio.ensure_future(server.serve(sockets=[opened]))
            while not server.started:
                await asyncio.sleep(0.01)
            try:
                async with aiohttp.ClientSession() as client:
                    await scene(Gateway(client, f"http://127.0.0.1:{opened.getsockname()[1]}", upstream))
            finally:
                server.should_exit = True
                await serving

    asyncio.run(run())


def _turns(folder: Path) -> int:
    with closing(Spending(folder / "cache" / "turns.sqlite")) as spending:
        return sum(session.turns for session in spending.sessions())


@pytest.mark.parametrize("name", FILES)
def test_a_gateway_starts_with_a_damaged_file_and_works_as_ever(tmp_path: Path, name: str) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / name).write_bytes(b"no database at all" * 500)

    async def scene(gateway: Gateway) -> None:
        assert await gateway.turn() < 0.5
        assert await gateway.turn() < 0.5

    _play(tmp_path, scene)
    assert len(list_ruined(tmp_path / "cache" / name)) == 1
    assert _turns(tmp_path) == 2


def test_files_that_are_spoiled_in_the_middle_of_work_are_replaced(tmp_path: Path) -> None:
    """Also when nobody may know it but from an error at some read or write."""

    async def scene(gateway: Gateway) -> None:
        assert await gateway.turn() < 0.5
        for name in FILES:
            path = tmp_path / "cache" / name
            with closing(sqlite3.connect(path)) as base:
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with path.open("r+b") as file:
                file.write(b"\xee" * path.stat().st_size)
        await gateway.turn()
        await gateway.turn("b")
        assert await gateway.turn() < 0.5
        assert await gateway.turn("b") < 0.5
        faults = await gateway.faults()
        assert faults['fault="damaged",file="archive"'] == 1
        assert faults['fault="damaged",file="ledger"'] == 1

    _play(tmp_path, scene)
    assert all(len(list_ruined(tmp_path / "cache" / name)) == 1 for name in FILES)


def test_a_folder_that_is_deleted_comes_back(tmp_path: Path) -> None:
    async def scene(gateway: Gateway) -> None:
        assert await gateway.turn() < 0.5
        while (tmp_path / "cache").exists():  # the gateway may be writing a figure
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        assert await gateway.turn() < 0.6, "what was sent before is not known any more; what is new is shortened"
        assert await gateway.turn("b") < 0.5

    _play(tmp_path, scene)
    assert {path.name for path in (tmp_path / "cache").iterdir()} >= set(FILES)


def test_locked_files_cost_tokens_and_the_next_turn_is_small_again(tmp_path: Path) -> None:
    async def scene(gateway: Gateway) -> None:
        assert await gateway.turn() < 0.5
        with ExitStack() as locks:
            for name in FILES:
                base = locks.enter_context(closing(sqlite3.connect(tmp_path / "cache" / name, isolation_level=None)))
                base.execute("BEGIN IMMEDIATE")
            assert 0.5 < await gateway.turn() < 1, "what was decided before still holds"
            assert await gateway.turn("b") == 1
        assert await gateway.turn("b") < 0.6, "what was sent whole stays so; what is new does not"
        assert await gateway.turn("c") < 0.5
        faults = await gateway.faults()
        assert faults['fault="locked",file="archive"'] >= 1

    _play(tmp_path, scene)
