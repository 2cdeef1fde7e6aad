"""The engine behind the gateway: requests arrive smaller, valid, with stable prefixes, also across a restart."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.tokens.count import counter
from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import ParsedRequest, parse

Json = dict[str, Any]
THINKING = {"type": "thinking", "thinking": "h\u00e9", "signature": "EqoB+/=="}


def _engine(folder: Path) -> EngineAdapter:
    archive = Archive(folder / "archive.sqlite", 10**8)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    return EngineAdapter(single_engine(ConversationEngine(ledger, archive, lambda: 0.0, counter())))


def _log(step: int) -> str:
    return "\n".join(f"2024-01-01 12:00:{n % 60:02} INFO worker {n} finished batch {n * step}" for n in range(400))


def _history(steps: int) -> list[Json]:
    """Long logs, thinking, server tools and notes of the system in between."""
    messages: list[Json] = [{"role": "user", "content": "Mend the build."}]
    for step in range(steps):
        use = {"type": "tool_use", "id": f"t{step}", "name": "Bash", "input": {"command": f"make step{step}"}}
        search = {"type": "server_tool_use", "id": f"s{step}", "name": "web_search", "input": {"query": "x"}}
        messages.append({"role": "assistant", "content": [THINKING, search, use]})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{step}", "content": _log(step)}]}
        )
        if step % 5 == 4:
            messages.append({"role": "system", "content": f"reminder {step}"})
            messages.append({"role": "user", "content": f"go on {step}"})
    return messages


def _body(messages: list[Json]) -> bytes:
    marked = json.loads(json.dumps(messages))
    if isinstance(marked[-1]["content"], list):
        marked[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "s", "messages": marked}).encode()


def _requests(steps: int) -> list[bytes]:
    """One request for each turn of the assistant."""
    messages = _history(steps)
    return [_body(messages[:at]) for at, message in enumerate(messages) if message["role"] == "assistant"] + [
        _body(messages)
    ]


def _answer(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b'{"usage":{"input_tokens":10,"output_tokens":1}}',))


async def _send(where: Stage, requests: list[bytes]) -> list[ParsedRequest]:
    for body in requests:
        status, headers, _ = await where.post("/v1/messages", body, x_api_key="k")
        assert (status, "x-laconic-action" in headers) == (200, True)
    return [parse(FORMATS["anthropic"], asked.body) for asked in where.upstream.asked]


def _keys(talk: ParsedRequest) -> list[str]:
    return [block.key for turn in talk.turns for block in turn.blocks]


def test_requests_arrive_smaller_valid_and_as_extensions(tmp_path: Path) -> None:
    requests = _requests(20)

    async def scene(where: Stage) -> None:
        arrived = await _send(where, requests)
        assert len(arrived[-1].body) < 0.9 * len(requests[-1])
        for sent, talk in zip(requests, arrived, strict=True):
            assert talk.faults() == []
            given = parse(FORMATS["anthropic"], sent)
            for old, new in zip(given.turns, talk.turns, strict=True):
                for left, right in zip(old.blocks, new.blocks, strict=True):
                    assert left.raw == right.raw or left.kind in {"result", "call"}
        changes = sum(_keys(new)[: len(_keys(old))] != _keys(old) for old, new in pairwise(arrived))
        assert changes <= 3
        _, listed = await where.get("/laconic/sessions")
        (row,) = json.loads(listed)["sessions"]
        assert row["bytes_came"] == sum(map(len, requests))
        assert row["bytes_went"] == sum(len(talk.body) for talk in arrived)
        assert row["bill"]["dollars_without"] > row["bill"]["dollars"] > 0

    play(scene, _answer, _engine(tmp_path))


def test_a_restart_in_the_middle_sends_the_same_bytes(tmp_path: Path) -> None:
    requests = _requests(20)
    bodies: dict[str, list[bytes]] = {"whole": [], "parted": []}

    def part(name: str, folder: str, some: list[bytes]) -> None:
        async def scene(where: Stage) -> None:
            bodies[name] += [talk.body for talk in await _send(where, some)]

        (tmp_path / folder).mkdir(exist_ok=True)
        play(scene, _answer, _engine(tmp_path / folder))

    part("whole", "a", requests)
    part("parted", "b", requests[:10])
    part("parted", "b", requests[10:])
    assert bodies["whole"] == bodies["parted"]
    assert len(bodies["whole"][-1]) < len(requests[-1])


def test_a_rewind_sends_what_was_sent_then(tmp_path: Path) -> None:
    requests = _requests(12)

    async def scene(where: Stage) -> None:
        arrived = await _send(where, [*requests, requests[8], requests[9]])
        for talk in arrived[-2:]:
            assert talk.faults() == []
        assert _keys(arrived[-1])[: len(_keys(arrived[-2]))] == _keys(arrived[-2])

    play(scene, _answer, _engine(tmp_path))


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
def test_with_a_disk_that_cannot_be_written_requests_pass(tmp_path: Path, path: str) -> None:
    """The folder of the archive is a file: nothing can be kept, so nothing is left out that would have to be."""
    blocked = tmp_path / "blocked"
    blocked.write_text("", "utf-8")
    body = _requests(12)[-1]

    async def scene(where: Stage) -> None:
        status, _, _ = await where.post(path, body)
        assert status == 200
        assert len(where.upstream.asked) == 1

    play(scene, _answer, _engine(blocked))
