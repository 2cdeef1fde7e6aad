"""Hostile calls at a gateway with a team: nothing is answered outside a key's rights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from tests.conftest import Places

from laconic.cli.commands.gateway import application, known_upstreams
from laconic.config import Settings, load
from laconic.gateway.scripted_upstream import ReceivedRequest, Script, ScriptedAnswer, ScriptedUpstream
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for
from laconic.sessions.archive import Archive
from laconic.sessions.store import SharedStore
from laconic.sessions.team.tables import team_place
from laconic_benchmarks.team.hostile import HostileTeam, attack, make_calls

SECRET = "sk-ant-secret-of-the-server"


def _settings(places: Places, tmp_path: Path) -> Settings:
    (tmp_path / "secret").write_text(SECRET, "ascii")
    place = places("team")
    own = {
        "cache_dir": str(tmp_path),
        "state_dir": str(tmp_path / "state"),
        "store": place.url if isinstance(place, SharedStore) else "",
        "team.provider_keys": f"anthropic=file:{tmp_path}/secret",
        "team.required": True,
    }
    return load(flags=own, environ={}, file=tmp_path / "none.toml")


@asynccontextmanager
async def _gateway(settings: Settings, script: Script) -> AsyncIterator[tuple[str, ScriptedUpstream]]:
    """The whole gateway as the settings want it, in front of a provider."""
    async with ScriptedUpstream(script) as upstream:
        known = known_upstreams(settings, upstream.url, upstream.url, upstream.url)
        where = listen("127.0.0.1:0", "", "", "", insecure=False)
        opened = bind(where)
        server = server_for(application(known, settings, off=False, where=where), where)
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{opened.getsockname()[1]}", upstream
        finally:
            server.should_exit = True
            await serving


def test_hostile_calls_get_nothing(places: Places, tmp_path: Path) -> None:
    settings = _settings(places, tmp_path)
    team = HostileTeam(team_place(settings))

    async def run() -> None:
        async with _gateway(settings, lambda asked: ScriptedAnswer()) as (base, upstream):
            sent, breaches = await attack(base, make_calls(team, 1000))
            assert breaches == []
            assert min(sent.values()) == 100
            assert upstream.asked == []
            # The same keys, used as they may be, do work: the calls above failed for the right reason.
            async with aiohttp.ClientSession() as client:
                headers = {"x-api-key": team.keys["bob"]}
                async with client.post(base + "/v1/messages", data=_request("hi"), headers=headers) as answer:
                    assert answer.status == 200
                headers = {"x-laconic-token": team.keys["lena"]}
                async with client.get(base + "/laconic/team/api/spending.json", headers=headers) as answer:
                    assert team.marks["bob"] in await answer.text()

    asyncio.run(run())


def test_nobody_recalls_what_was_left_out_of_anothers_conversation(places: Places, tmp_path: Path) -> None:
    """Also with the same session id and the same beginning. The model asks for whatever the last message names."""
    settings = _settings(places, tmp_path)
    team = HostileTeam(team_place(settings))

    async def run() -> None:
        async with _gateway(settings, _recalling) as (base, _), aiohttp.ClientSession() as client:

            async def ask(owner: str, text: str) -> tuple[str, str]:
                headers = {"x-api-key": team.keys[owner], "x-laconic-session": "the same"}
                async with client.post(base + "/v1/messages", data=_request("hi", text), headers=headers) as answer:
                    return answer.headers["x-laconic-session"], await answer.text()

            (session, _), (other, _) = await ask("bob", "one"), await ask("cid", "one")
            assert session != other
            archive = Archive.of(settings)
            ref = archive.put(session, "", b"what bob's agent read")
            assert "what bob's agent read" in (await ask("bob", f"recall {ref}"))[1]
            assert "what bob's agent read" not in (await ask("cid", f"recall {ref}"))[1]
            assert "nothing was left out" in (await ask("cid", f"recall {ref}"))[1]

    asyncio.run(run())


def _request(*texts: str) -> bytes:
    """A conversation of a program with one tool of its own, and no shell."""
    messages: list[dict[str, str]] = []
    for text in texts:
        if messages:
            messages.append({"role": "assistant", "content": "yes"})
        messages.append({"role": "user", "content": text})
    tool = {"name": "look_up", "input_schema": {"type": "object"}}
    return json.dumps({"model": "claude-a", "max_tokens": 9, "messages": messages, "tools": [tool]}).encode()


def _recalling(asked: ReceivedRequest) -> ScriptedAnswer:
    """A model that recalls what the last message names, and says what it got."""
    body: dict[str, Any] = json.loads(asked.body)
    last = body["messages"][-1]["content"]
    if isinstance(last, str) and last.startswith("recall "):
        use = {"type": "tool_use", "id": "toolu_1", "name": "laconic_recall", "input": {"ref": last.split()[1]}}
        answer: dict[str, Any] = {"content": [use], "stop_reason": "tool_use"}
    else:
        answer = {"content": [{"type": "text", "text": json.dumps(last)}], "stop_reason": "end_turn"}
    whole = {"type": "message", "role": "assistant", **answer, "usage": {"input_tokens": 9, "output_tokens": 1}}
    return ScriptedAnswer((json.dumps(whole).encode(),))
