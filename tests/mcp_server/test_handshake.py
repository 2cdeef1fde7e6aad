"""The first answers come before the SDK is loaded, and are the SDK's own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.samples import shop

from laconic.config import Settings
from laconic.mcp_server import stdio
from laconic.mcp_server.handshake import MODERN, VERSIONS, HandshakeResult, answer_handshake
from laconic.serving.stdio_lines import LineReader

LISTS = ("tools/list", "resources/list", "resources/templates/list")


def _request(number: int, method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _handshake(version: str, client: str = "test") -> list[dict[str, object]]:
    about = {"capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
    return [
        _request(1, "initialize", protocolVersion=version, **about),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(_request(i, method) for i, method in enumerate((*LISTS, "ping"), 2)),
    ]


def _modern(client: str = "test") -> list[dict[str, object]]:
    key = "io.modelcontextprotocol/"
    meta = {
        f"{key}protocolVersion": MODERN,
        f"{key}clientInfo": {"name": client, "version": "1"},
        f"{key}clientCapabilities": {},
    }
    return [_request(i, method, _meta=meta) for i, method in enumerate(("server/discover", *LISTS))]


def _talk(messages: list[dict[str, object]], serve: Callable[[LineReader], object]) -> dict[int, Any]:
    """The answers to these messages by id, from a server that has them all at once and is left when it is done."""
    incoming, theirs = os.pipe()
    answers, outgoing = os.pipe()
    server = Thread(target=serve, args=(LineReader(incoming, outgoing),))
    server.start()
    os.write(theirs, b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    with os.fdopen(answers, "rb") as file:
        said = [json.loads(file.readline()) for message in messages if "id" in message]
        os.close(theirs)
        server.join()
    os.close(outgoing)
    return {message["id"]: message for message in said}


def test_we_know_the_versions_that_the_sdk_knows() -> None:
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (MODERN,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", [*VERSIONS, "1999-01-01", MODERN])
def test_the_greeting_says_what_the_sdk_says(version: str, tmp_path: Path, settings: Settings) -> None:
    """Every version, and one that nobody knows: the same answers, whoever gives them."""
    messages = _modern() if version == MODERN else _handshake(version)
    root = shop(tmp_path)
    ours = _talk(messages, answer_handshake)
    theirs = _talk(messages, lambda lines: asyncio.run(stdio.answer(root, settings, False, lines, HandshakeResult())))
    assert ours == theirs


@pytest.mark.parametrize("client", ["test", "claude-code"])
@pytest.mark.parametrize("version", [VERSIONS[-1], MODERN])
def test_resources_are_offered_to_clients_that_pay_nothing_for_them(
    version: str, client: str, tmp_path: Path, settings: Settings
) -> None:
    """Claude Code puts three tools into every prompt as soon as a server has resources."""
    messages = _modern(client) if version == MODERN else _handshake(version, client)
    without = settings.patterns("mcp.without_resources")
    root = shop(tmp_path)
    ours = _talk(messages, lambda lines: answer_handshake(lines, without_resources=without))
    theirs = _talk(messages, lambda lines: asyncio.run(stdio.answer(root, settings, False, lines, HandshakeResult())))
    assert ours == theirs
    first = min(ours)
    assert ("resources" in ours[first]["result"]["capabilities"]) == (client == "test")


def test_a_question_for_the_sdk_is_handed_over_with_the_handshake() -> None:
    call = _request(9, "tools/call", name="map", arguments={})
    incoming, theirs = os.pipe()
    answers, outgoing = os.pipe()
    os.write(theirs, b"".join(json.dumps(message).encode() + b"\n" for message in [*_handshake(VERSIONS[-1]), call]))
    greeted = answer_handshake(LineReader(incoming, outgoing))
    for handle in (theirs, answers, outgoing):
        os.close(handle)
    assert [json.loads(line)["method"] for line in greeted.replay] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert greeted.answered == 1
    assert not greeted.ended


@pytest.mark.parametrize("line", [b"nonsense", b"[]", b"\xff\xfe", b'{"method": 3}', b'{"id": 1, "method": "ping"}'])
def test_what_is_not_a_greeting_is_left_to_the_sdk(line: bytes) -> None:
    incoming, theirs = os.pipe()
    os.write(theirs, line + b"\n")
    os.close(theirs)
    assert answer_handshake(LineReader(incoming, 2)).replay == (line,)


def test_every_question_of_a_hasty_client_is_answered_once(tmp_path: Path) -> None:
    """All messages at once through the real program: no answer twice, none missing, nothing else on the stream."""
    call = _request(9, "tools/call", name="read", arguments={"targets": ["shop/money.py:13-16"]})
    server = subprocess.Popen(
        [sys.executable, "-m", "laconic", "mcp", "--root", str(shop(tmp_path))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "PATH": os.environ["PATH"]},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b"".join(json.dumps(m).encode() + b"\n" for m in [*_handshake(VERSIONS[-1]), call]))
    server.stdin.flush()
    said = [json.loads(server.stdout.readline()) for _ in range(6)]
    assert [message["id"] for message in said] == [1, 2, 3, 4, 5, 9]
    assert "def total" in said[-1]["result"]["content"][0]["text"]
    rest, _ = server.communicate(timeout=60)
    assert rest == b""
    assert server.returncode == 0


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (
            rb'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search","arguments":{"query":"\ud800x"}}}',
            0,
        ),
        (rb'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"none\udfff"}}', 0),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", -32700),
        (b'{"jsonrpc":"2.0","params":' + b"[" * 150 + b"]" * 150 + b',"id":9,"method":"ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call",', -32700),
        (b'{"id":9,"method":' + b"[" * 100_000, -32700),
    ],
)
def test_every_request_is_answered_whatever_it_holds(
    tmp_path: Path, settings: Settings, line: bytes, code: int, first: bool
) -> None:
    """Half a surrogate pair, brackets without end, half a message: before the SDK is loaded, and after."""
    root = shop(tmp_path)
    hello = [json.dumps(message).encode() for message in _handshake("2025-06-18")[: 2 if first else 6]]
    given = [*hello, line, b'{"jsonrpc":"2.0","id":10,"method":"ping"}']
    server = subprocess.Popen(
        [sys.executable, "-m", "laconic", "mcp", "--root", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"LACONIC_CACHE_DIR": str(settings.cache_dir()), "LACONIC_CONFIG": str(tmp_path / "none")},
    )
    answers: dict[object, Any] = {}
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(each + b"\n" for each in given))
        server.stdin.flush()
        while not {9, 10} <= answers.keys() and (said := server.stdout.readline()):
            message = json.loads(said)
            answers[message.get("id")] = message
        server.stdin.close()
    assert answers[9].get("error", {}).get("code", 0) == code
    assert answers[10]["result"] == {}
    assert server.returncode == 0


def test_it_is_noted_that_the_client_was_sent_the_tools(tmp_path: Path, settings: Settings) -> None:
    """Whoever answers: the handshake, or the SDK."""
    greeting, ready, tools = _handshake(VERSIONS[-1])[:3]
    root, noted = shop(tmp_path), []
    _talk([greeting, ready], lambda lines: answer_handshake(lines, listed=lambda: noted.append("too early")))
    assert not noted
    _talk([greeting, ready, tools], lambda lines: answer_handshake(lines, listed=lambda: noted.append("handshake")))

    def serve(lines: LineReader) -> None:
        listed = lambda: noted.append("SDK")  # noqa: E731 - one word for the thread
        asyncio.run(stdio.answer(root, settings, False, lines, HandshakeResult(), listed=listed))

    _talk([greeting, ready, tools], serve)
    assert noted == ["handshake", "SDK"]
