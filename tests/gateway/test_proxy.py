"""What a client and a provider see of the gateway: nothing, unless the engine changes a conversation."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from base64 import urlsafe_b64encode

import aiohttp
import msgspec
import pytest
from backports import zstd
from tests.gateway.stage import VIEWER, Stage, play
from yarl import URL

from laconic.conversation.engine import PreparedRequest
from laconic.exchange.caller import Caller
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.rate_limits import RateLimits
from laconic.wire.refusals import PromptTooLong
from laconic.wire.turns_and_blocks import SetText
from laconic.wire.usage import Usage

CHAT = b'{ "model":"m", "messages":[{"role":"user","content":"caf\\u00e9"}] }'
BODIES = {
    "/v1/messages": CHAT,
    "/v1/chat/completions": CHAT,
    "/v1/responses": b'{"model": "m",  "input":[{"role":"user","content":"x"}]}',
    "/v1beta/models/gemini-3:generateContent": b'{"contents":[{"parts":[{"text":"x"}]}]}',
    "/v1beta/models/gemini-3:streamGenerateContent?alt=sse": b'{"contents":[{"parts":[{"text":"x"}]}]}',
    "/local/v1/chat/completions": CHAT,
}


class Shortening:
    """An engine that shortens the last text, and remembers what it was told."""

    def __init__(self) -> None:
        self.callers: list[Caller] = []
        self.told: list[tuple[Usage | None, RateLimits | None]] = []

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        self.callers.append(caller)
        last = conversation.turns[-1].blocks[-1]
        return PreparedRequest(conversation.emit({last.at: SetText("short")}), mode="shortened\r\nx-evil: 1")

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        self.told.append((usage, limits))

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        return None

    def learn_window(self, caller: Caller, tokens: int) -> None:
        return None


class Failing:
    """An engine with a bug."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        raise self._error

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        raise self._error

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        raise self._error

    def learn_window(self, caller: Caller, tokens: int) -> None:
        raise self._error


def _json(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer(
        (
            b'{"usage": {"input_tokens": 7,',
            b' "output_tokens": 2}}',
        )
    )


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("engine", [None, Failing(RuntimeError("bug"))], ids=["unchanged", "failing"])
def test_bodies_and_answers_pass_byte_for_byte(path: str, engine: Failing | None) -> None:
    """Switched off it is invisible; and when our own code fails the request goes through as it came."""

    async def scene(where: Stage) -> None:
        status, headers, body = await where.post(path, BODIES[path], authorization="Bearer k", x_custom="1")
        assert (status, body) == (200, b'{"usage": {"input_tokens": 7, "output_tokens": 2}}')
        assert headers["content-type"] == "application/json"
        (asked,) = where.upstream.asked
        assert asked.path == path.removeprefix("/local")
        assert asked.body == BODIES[path]
        assert (asked.header("authorization"), asked.header("x-custom")) == ("Bearer k", "1")

    play(scene, _json, engine)


def test_what_belongs_to_no_provider_is_answered_by_us() -> None:
    async def scene(where: Stage) -> None:
        for method in ("HEAD", "GET", "POST"):
            async with where.client.request(method, where.base + "/") as answer:
                assert answer.status == 404
        assert where.upstream.asked == []
        assert b"laconic_unrouted_total 3" in (await where.get("/metrics"))[1]

    play(scene, _json)


def test_whether_somebody_is_there_is_not_asked_upstream() -> None:
    """A client asks before its user trusts the folder, whose settings may name any host."""

    async def scene(where: Stage) -> None:
        async with where.client.head(where.base + "/local/") as answer:
            assert answer.status == 200
        assert where.upstream.asked == []

    play(scene, _json)


def test_a_websocket_is_declined_in_the_way_that_makes_clients_fall_back() -> None:
    async def scene(where: Stage) -> None:
        status, _ = await where.get("/v1/responses", connection="upgrade", upgrade="websocket")
        assert (status, where.upstream.asked) == (426, [])

    play(scene, _json)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/models"), ("DELETE", "/v1/files/a%2Fb?x=1&x=%20"), ("PUT", "/anything/at/all"), ("PATCH", "/v1/x")],
)
def test_everything_else_passes_through_with_a_key(method: str, path: str) -> None:
    async def scene(where: Stage) -> None:
        url = URL(where.base + path, encoded=True)
        body = b"\x00\xff" if method != "GET" else None
        key = {"authorization": "Bearer k"}
        async with where.client.request(method, url, data=body, headers=key) as answer:
            assert (answer.status, await answer.read()) == (404, b"no")
            assert answer.headers.getall("x-two") == ["a", "b"]
        (asked,) = where.upstream.asked
        assert (asked.method, asked.path) == (method, path)
        assert asked.body == (b"\x00\xff" if method != "GET" else b"")

    play(scene, lambda _: ScriptedAnswer((b"no",), 404, (("x-two", "a"), ("x-two", "b"))))


def test_the_engine_changes_what_is_sent_and_hears_what_was_said() -> None:
    engine = Shortening()

    async def scene(where: Stage) -> None:
        _, headers, _ = await where.post("/v1/messages", CHAT, x_api_key="k")
        assert json.loads(where.upstream.asked[0].body)["messages"][0]["content"] == "short"
        assert headers["x-laconic-action"] == "shortened??x-evil: 1"
        assert headers["x-laconic-session"] == engine.callers[0].session
        await asyncio.sleep(0.05)
        assert engine.told[0][0] == Usage(7, 0, 0, 2)

    play(scene, _json, engine)


@pytest.mark.parametrize(
    ("headers", "policy"),
    [
        ({"x_laconic": "off"}, GatewayPolicy()),
        ({}, GatewayPolicy(enabled=False)),
        ({}, GatewayPolicy(off_models=("other", "m*", "gem*"))),
    ],
    ids=["by-header", "by-setting", "by-model"],
)
@pytest.mark.parametrize("path", BODIES)
def test_switched_off_nothing_changes(path: str, headers: dict[str, str], policy: GatewayPolicy) -> None:
    """Bodies and answers are the same bytes, in all formats."""

    async def scene(where: Stage) -> None:
        _, _, body = await where.post(path, BODIES[path], **headers)
        assert where.upstream.asked[0].body == BODIES[path]
        assert where.upstream.asked[0].header("x-laconic") == ""
        assert body == b"".join(EVENTS)

    play(scene, lambda _: streamed(EVENTS), Shortening(), policy)


def test_a_session_is_switched_off_and_on_again() -> None:
    async def scene(where: Stage) -> None:
        for switch in ("session-off", "", "on"):
            await where.post("/v1/messages", CHAT, **({"x_laconic": switch} if switch else {}))
        assert [asked.body == CHAT for asked in where.upstream.asked] == [True, True, False]

    play(scene, _json, Shortening())


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("changed", [True, False])
def test_compressed_bodies_are_opened_only_to_change_them(encoding: str, changed: bool) -> None:
    packed = gzip.compress(CHAT) if encoding == "gzip" else zstd.compress(CHAT)

    async def scene(where: Stage) -> None:
        await where.post("/v1/messages", packed, content_encoding=encoding)
        (asked,) = where.upstream.asked
        if changed:
            assert json.loads(asked.body)["messages"][0]["content"] == "short"
            assert asked.header("content-encoding") == ""
        else:
            assert asked.body == packed
            assert asked.header("content-encoding") == encoding

    play(scene, _json, Shortening() if changed else None)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(CHAT)[:-9], "gzip"),
        (b"?", "br"),
        (b"{", ""),
        (b"", ""),
        (b"\xff\x00", "zstd"),
    ],
    ids=["not-gzip", "cut-gzip", "unknown", "broken-json", "empty", "not-zstd"],
)
def test_what_cannot_be_read_passes_as_it_is(body: bytes, encoding: str) -> None:
    async def scene(where: Stage) -> None:
        headers = {"content_encoding": encoding} if encoding else {}
        status, _, _ = await where.post("/v1/messages", body, **headers)
        assert status == 200
        assert where.upstream.asked[0].body == body

    play(scene, _json, Shortening())


@pytest.mark.parametrize("body", [b"x" * 200_000, gzip.compress(b" " * 200_000)], ids=["plain", "bomb"])
def test_a_body_that_is_too_large_for_us_passes_as_it_is(body: bytes) -> None:
    """A provider may take what we do not look at: uploads, for instance."""

    async def scene(where: Stage) -> None:
        headers = {"content_encoding": "gzip"} if len(body) < 100_000 else {}
        status, _, _ = await where.post("/v1/messages", body, **headers)
        assert status == 200
        assert [(asked.body, asked.header("content-length")) for asked in where.upstream.asked] == [
            (body, str(len(body)))
        ]

    play(scene, _json, policy=GatewayPolicy(max_body=100_000))


EVENTS = tuple(b'data: {"n": %d, "usage": {"output_tokens": %d}}\n\n' % (n, n) for n in range(1, 21))


def test_a_stream_arrives_event_by_event() -> None:
    """The first event is there long before the last is sent."""

    async def scene(where: Stage) -> None:
        async with where.client.post(where.base + "/v1/messages", data=CHAT) as answer:
            first = await answer.content.readuntil(b"\n\n")
            assert first == EVENTS[0]
            assert len(where.upstream.asked) == 1
            assert await answer.content.read() == b"".join(EVENTS[1:])

    play(scene, lambda _: streamed(EVENTS, pause=0.01))


def test_when_the_client_leaves_the_provider_is_told() -> None:
    async def scene(where: Stage) -> None:
        async with where.client.post(where.base + "/v1/messages", data=CHAT) as answer:
            await answer.content.readuntil(b"\n\n")
            answer.close()
        for _ in range(200):
            if where.upstream.left:
                break
            await asyncio.sleep(0.02)
        assert where.upstream.left == 1

    play(scene, lambda _: streamed(EVENTS[:1], fault="stall"))


@pytest.mark.parametrize("fault", ["reset", "truncated"])
def test_an_answer_that_breaks_off_breaks_off_for_the_client(fault: str) -> None:
    async def scene(where: Stage) -> None:
        with pytest.raises(aiohttp.ClientPayloadError):
            async with where.client.post(where.base + "/v1/messages", data=CHAT) as answer:
                await answer.read()
        status, _ = await where.get("/healthz")
        assert status == 200

    play(scene, lambda _: streamed(EVENTS[:3], fault=fault, pause=0.01))


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_errors_of_the_provider_arrive_as_they_are(status: int) -> None:
    async def scene(where: Stage) -> None:
        code, headers, body = await where.post("/v1/messages", CHAT)
        assert (code, body, headers["retry-after"]) == (status, b'{"type":"error"}', "7")

    play(scene, lambda _: ScriptedAnswer((b'{"type":"error"}',), status, (("retry-after", "7"),)))


def test_a_provider_that_is_not_there_is_a_502() -> None:
    async def scene(where: Stage) -> None:
        assert where.upstream._server is not None
        where.upstream._server.close()
        status, _, body = await where.post("/v1/messages", CHAT)
        assert status == 502
        assert json.loads(body)["type"] == "error"

    play(scene, _json)


def test_usage_is_read_from_a_compressed_answer() -> None:
    engine = Shortening()
    packed = gzip.compress(b'{"usage": {"input_tokens": 7, "output_tokens": 2}}')
    answer = ScriptedAnswer((packed[:9], packed[9:]), headers=(("content-encoding", "gzip"),))

    async def scene(where: Stage) -> None:
        _, _, body = await where.post("/v1/messages", CHAT)
        assert body == packed
        await asyncio.sleep(0.05)
        assert engine.told[0][0] == Usage(7, 0, 0, 2)

    play(scene, lambda _: answer, engine)


def _with(**fields: object) -> bytes:
    return msgspec.json.encode({**json.loads(CHAT), **fields})


def _signed(subject: str, renewed: int) -> str:
    """A token as accounts get it: its claims say whom it is about, and it changes all the time."""
    claims = urlsafe_b64encode(json.dumps({"sub": subject, "exp": renewed}).encode()).decode().rstrip("=")
    return f"Bearer e30.{claims}.{renewed}"


def test_sessions_are_told_apart_by_id_account_and_opening_and_not_by_keys() -> None:
    engine, same = Shortening(), _with()
    other = _with(messages=[{"role": "user", "content": "another task"}])
    requests: list[tuple[bytes, dict[str, str]]] = [
        (same, {"x_api_key": "a"}),
        (same, {"x_api_key": "b"}),
        (same, {"authorization": "Bearer renewed"}),
        (_with(system="be brief", tools=[{"name": "new"}]), {"x_api_key": "a"}),
        (other, {"x_api_key": "a"}),
        (same, {"x_session_id": "1"}),
        (_with(metadata={"user_id": "u"}), {}),
        (_with(prompt_cache_key="p"), {}),
        (same, {"chatgpt_account_id": "one"}),
        (same, {"authorization": _signed("alice", 1)}),
        (same, {"authorization": _signed("alice", 2)}),
        (same, {"authorization": _signed("bob", 1)}),
    ]

    async def scene(where: Stage) -> None:
        for body, headers in requests:
            await where.post("/v1/messages", body, **headers)
        seen = [caller.session for caller in engine.callers]
        assert len(set(seen[:4])) == 1
        assert seen[9] == seen[10]
        assert len(set(seen)) == len(seen) - 4
        accounts = [caller.account for caller in engine.callers]
        assert len({*accounts[:3]}) == 3
        assert accounts[9] == accounts[10] != accounts[11]

    play(scene, _json, engine)


def test_the_numbers_are_private() -> None:
    async def scene(where: Stage) -> None:
        await where.post("/v1/messages", CHAT, x_laconic_token="word", x_api_key="secret-key")
        for path in ("/metrics", "/laconic/sessions"):
            assert (await where.get(path, x_laconic_token=""))[0] == 401
            assert (await where.get(path, x_laconic_token="wrong"))[0] == 401
            assert (await where.get(path, x_laconic_token="", authorization="Bearer secret-key"))[0] == 401
        status, text = await where.get("/metrics", x_laconic_token="", authorization=f"Bearer {VIEWER}")
        assert status == 200
        assert b'laconic_requests_total{format="anthropic",status="200",upstream="anthropic"} 1' in text
        status, sessions = await where.get("/laconic/sessions")
        assert json.loads(sessions)["sessions"][0]["requests"] == 1
        assert b"secret-key" not in text + sessions
        assert where.upstream.asked[0].header("x-laconic-token") == ""

    play(scene, _json, token="word")


def test_without_the_token_nothing_passes() -> None:
    async def scene(where: Stage) -> None:
        status, _, _ = await where.post("/v1/messages", CHAT)
        assert status == 401
        assert where.upstream.asked == []
        assert (await where.get("/healthz"))[0] == 200

    play(scene, _json, token="word")


def test_without_a_token_of_its_own_the_numbers_want_one_too() -> None:
    """Whoever else is on this machine may ask a provider with a key of theirs, and sees nothing of us."""

    async def scene(where: Stage) -> None:
        assert (await where.post("/v1/messages", CHAT))[0] == 200
        for path in ("/metrics", "/laconic/sessions"):
            assert (await where.get(path, x_laconic_token=""))[0] == 401
            assert (await where.get(path))[0] == 200
        for path in ("/healthz", "/readyz"):
            assert await where.get(path, x_laconic_token="") == (200, b"ok\n")

    play(scene, _json)


def test_a_head_request_has_the_headers_and_no_body() -> None:
    async def scene(where: Stage) -> None:
        async with where.client.head(where.base + "/v1/models") as answer:
            assert (answer.status, await answer.read()) == (200, b"")
        assert where.upstream.asked[0].method == "HEAD"

    play(scene, lambda _: ScriptedAnswer((), headers=(("x-here", "1"),)))


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 90\r\n\r\n{",
        b"GET /v1/models HTTP/1.1\r\nhost: x\r\nx-a: 1\nx-b: 2\r\n\r\n",
        b"GET http://evil.example/v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"\x00\x01\x02\r\n\r\n",
    ],
    ids=["two-framings", "two-lengths", "bare-line-feed", "absolute-address", "upgrade", "no-http"],
)
def test_nothing_is_smuggled(head: bytes) -> None:
    """Whatever stands in the bytes, the provider sees requests of one framing, to itself, and no hidden second one."""

    async def scene(where: Stage) -> None:
        port = int(where.base.rsplit(":", 1)[1])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"GET /hidden HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(), 1)
        writer.close()
        for asked in where.upstream.asked:
            assert asked.header("host") == where.upstream.url.removeprefix("http://")
            assert not (asked.header("content-length") and asked.header("transfer-encoding"))
            assert asked.header("upgrade") == ""
            assert asked.path in {"/v1/messages", "/v1/models", "/hidden"}
            assert b"hidden" not in asked.body

    play(scene, _json)
