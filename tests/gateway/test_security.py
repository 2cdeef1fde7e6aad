"""What a hostile request can try, and what becomes of it: nothing but an answer to that request."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import suppress

import pytest
from tests.gateway.stage import Stage, play
from tests.gateway.test_proxy import CHAT
from yarl import URL

from laconic.gateway.logs import to
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream

EVIL = "http://169.254.169.254/latest/meta-data"
NASTY = 'x"}\n{"event":"forged"}\r\nx-evil: 1\r\n\x00\x1b[2J é'


def _fine(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b'{"usage":{"input_tokens":1}}',))


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/v1/messages",
        "/@evil.example/v1/messages",
        "/http://evil.example/v1/messages",
        "/v1/../../evil.example",
        "/v1/%2e%2e/%2e%2e/etc/passwd",
        "/v1beta/models/..%2f..%2fadmin:generateContent",
        "/v1beta/models/http:%2f%2fevil.example:generateContent",
        "/local@evil.example/v1/messages",
        "/local:80@evil.example/v1/messages",
        "/v1/messages?url=http://evil.example&base_url=http://evil.example",
        "/v1/messages;@evil.example",
        "/\\evil.example",
    ],
)
def test_no_path_leads_to_another_host(path: str) -> None:
    """Whatever stands in it, it stays a path, as it was written, at the provider that is configured."""

    async def scene(where: Stage) -> None:
        key = {"authorization": "Bearer k"}
        async with where.client.post(URL(where.base + path, encoded=True), data=CHAT, headers=key) as answer:
            assert answer.status in {200, 400}
        for asked in where.upstream.asked:
            assert asked.header("host") == where.upstream.url.removeprefix("http://")
            assert asked.path == path

    play(scene, _fine)


@pytest.mark.parametrize(
    "model", [EVIL, "../../admin", "evil.example:80/m", NASTY, "m" * 100_000, "", None, 7, ["m"]]
)
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
def test_no_model_name_leads_anywhere(path: str, model: object) -> None:
    """It is data: it chooses no address, and it forges no header, no metric and no log line."""
    stream = io.StringIO()
    to(stream)
    tools = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}]
    messages = {"input": "x"} if path.endswith("responses") else {"messages": [{"role": "user", "content": "x"}]}
    body = json.dumps({"model": model, "tools": tools, **messages}).encode()

    async def scene(where: Stage) -> None:
        status, headers, _ = await where.post(path, body, authorization="Bearer k")
        assert status == 200
        assert "x-evil" not in headers
        asked = [json.loads(one.body) for one in where.upstream.asked if one.body]
        assert [one["model"] for one in asked] == [model] * len(asked)
        assert {one.path for one in where.upstream.asked} <= {path, "/v1/models"}
        _, numbers = await where.get("/metrics")
        assert all(line.startswith(("#", "laconic_")) for line in numbers.decode().splitlines())
        _, sessions = await where.get("/laconic/sessions")
        assert len(sessions) < 2000

    play(scene, _fine, policy=GatewayPolicy())
    events = {json.loads(line)["event"] for line in stream.getvalue().splitlines()}
    assert events <= {"answered", "a model was probed"}


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-host": "evil.example", "x-original-url": "/admin", "x-rewrite-url": "/admin"},
        {"x-laconic-upstream": EVIL, "x-upstream-url": EVIL, "x-base-url": EVIL, "x-target": EVIL},
        {"forwarded": "host=evil.example", "via": "evil.example"},
    ],
)
def test_no_header_makes_it_an_open_relay(headers: dict[str, str]) -> None:
    async def scene(where: Stage) -> None:
        async with where.client.post(where.base + "/v1/messages", data=CHAT, headers=headers) as answer:
            assert answer.status == 200
        (asked,) = where.upstream.asked
        assert asked.header("host") == where.upstream.url.removeprefix("http://")
        assert asked.path == "/v1/messages"

    play(scene, _fine)


@pytest.mark.parametrize(
    "line", ["CONNECT evil.example:443 HTTP/1.1", "GET http://evil.example/ HTTP/1.1", "POST evil.example HTTP/1.1"]
)
def test_it_is_no_forward_proxy(line: str) -> None:
    """Nobody gets through to a host that is not configured."""

    async def scene(where: Stage) -> None:
        async with ScriptedUpstream(_fine) as other:
            port = other.url.rsplit(":", 1)[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", int(where.base.rsplit(":", 1)[1]))
            wanted = line.replace("evil.example:443", f"127.0.0.1:{port}").replace(
                "evil.example", f"127.0.0.1:{port}"
            )
            writer.write(f"{wanted}\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode())
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(), 1)
            writer.close()
            assert other.asked == []

    play(scene, _fine)


def test_a_redirect_is_handed_on_and_not_followed() -> None:
    """A key that goes to one provider does not follow it to another address."""

    async def scene(where: Stage) -> None:
        url = where.base + "/v1/messages"
        async with where.client.post(url, data=CHAT, allow_redirects=False, headers={"x-api-key": "k"}) as answer:
            assert (answer.status, answer.headers["location"]) == (307, EVIL)
        assert len(where.upstream.asked) == 1

    play(scene, lambda _: ScriptedAnswer((), 307, (("location", EVIL),)))


@pytest.mark.parametrize("header", ["user-agent", "x-session-id", "x-claude-code-session-id", "x-laconic-session"])
def test_no_header_forges_a_log_line(header: str) -> None:
    stream = io.StringIO()
    to(stream)
    value = '"}{"event":"forged"} \\n \\u000a %0a SECRET'

    async def scene(where: Stage) -> None:
        await where.post("/v1/messages", CHAT, **{header.replace("-", "_"): value})

    play(scene, _fine)
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["event"] == "answered"
    assert "SECRET" not in line


def test_a_chunked_body_without_end_is_passed_on_and_not_gathered() -> None:
    """No length is announced: what is more than we look at goes upstream as it comes."""

    async def scene(where: Stage) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(where.base.rsplit(":", 1)[1]))
        writer.write(
            b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: k\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for _ in range(40):
            writer.write(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        assert b" 200 " in await asyncio.wait_for(reader.readline(), 20)
        writer.close()
        assert [asked.body for asked in where.upstream.asked] == [b"x" * (40 * 0x2000)]

    play(scene, _fine, policy=GatewayPolicy(max_body=100_000))
