"""Keys of a team at the gateway: what a provider sees of them, what they allow, and how a refusal reads."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import Places
from tests.gateway.stage import Stage, play, stage
from tests.gateway.teams import anthropic, count_tokens, new_key, parts, recorder

from laconic.errors import BadSetting
from laconic.exchange.caller import Caller, Target
from laconic.exchange.plan import Plan
from laconic.gateway.provider_keys import read_provider_keys
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.gateway.team_access import TeamAccess, TeamRefusal
from laconic.models.price_lookup import Prices
from laconic.sessions.store import SharedStore
from laconic.sessions.team.budgets import Budgets
from laconic.sessions.team.keys import TeamKeys
from laconic.sessions.team.spending import TeamSpending, ViewerRights
from laconic_benchmarks.postgres_server import NoPostgres, PostgresServer

CHAT = b'{"model":"gpt-5","messages":[{"role":"user","content":"hi"}],"max_tokens":10}'
GEMINI = b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'


def _everything(asked: ReceivedRequest) -> str:
    return f"{asked.path} {asked.headers} {asked.body!r}"


def test_the_providers_key_takes_the_place_of_the_teams(places: Places) -> None:
    place = places("team")
    key = new_key(place)

    async def scene(on: Stage) -> None:
        carried = [
            ("/v1/messages", anthropic(), {"x_api_key": key}),
            ("/v1/messages", anthropic(), {"authorization": f"Bearer {key}", "anthropic_version": "2023-06-01"}),
            (
                "/v1/messages",
                anthropic(),
                {"x_api_key": "sk-ant-own", "authorization": f"Bearer {key}", "x_more": key},
            ),
            ("/v1/chat/completions", CHAT, {"authorization": f"Bearer {key}", "openai_organization": "org-x"}),
            ("/v1beta/models/gemini-x:generateContent", GEMINI, {"x_goog_api_key": key}),
            (f"/v1beta/models/gemini-x:generateContent?key={key}&alt=json", GEMINI, {"cookie": f"a={key}"}),
        ]
        for path, body, headers in carried:
            status, _, said = await on.post(path, body, **headers)
            assert status == 200, said
        wanted = ["x-api-key"] * 3 + ["authorization"] + ["x-goog-api-key"] * 2
        secrets = ["sk-ant-real"] * 3 + ["Bearer sk-proj-real"] + ["AIza-real"] * 2
        for asked, name, secret in zip(on.upstream.asked, wanted, secrets, strict=True):
            assert asked.header(name) == secret
            seen = _everything(asked)
            assert "lac-" not in seen
            assert "sk-ant-own" not in seen
            assert "org-x" not in seen
            assert seen.count("real") == 1
        assert on.upstream.asked[-1].path.endswith("?alt=json")

    play(scene, count_tokens, team=parts(place), history=recorder())


def test_a_key_opens_models_and_free_questions_only(places: Places) -> None:
    place = places("team")
    key = new_key(place)

    async def scene(on: Stage) -> None:
        free = [("GET", "/v1/models"), ("GET", "/v1/models/gpt-5"), ("POST", "/v1/messages/count_tokens")]
        for method, path in free:
            async with on.client.request(method, on.base + path, headers={"x-api-key": key}, data=b"{}") as answer:
                assert answer.status == 200, path
        passed = len(on.upstream.asked)
        closed = [
            *(
                "/v1/files",
                "/v1/batches",
                "/v1/organization/admin_api_keys",
                "/v1/responses/resp_1",
                "/v1/embeddings",
            ),
            *("/v1/messages/batches", "/v1/files/x/v1/messages", "/x%2f../v1/messages", "/v1/fine_tuning/jobs"),
            *(
                "/v1beta/cachedContents",
                "/v1beta/models/gemini-x:batchGenerateContent",
                "/v1/messages/",
                "/v1//messages",
            ),
        ]
        for path in closed:
            for method in ("GET", "POST", "DELETE"):
                url = on.base + path
                async with on.client.request(method, url, headers={"x-api-key": key}, data=anthropic()) as answer:
                    assert answer.status in {403, 404}, (method, path, await answer.text())
        assert len(on.upstream.asked) == passed

    play(scene, count_tokens, team=parts(place))


def test_refusals_are_in_the_words_of_each_provider(places: Places) -> None:
    place = places("team")
    poor = new_key(place, budget=0.05)
    narrow, slow = new_key(place, models="other-*"), new_key(place, rate=1)

    async def scene(on: Stage) -> None:
        assert (await on.post("/v1/messages", anthropic(), x_api_key=poor))[0] == 200  # the last one, for ten cents
        await asyncio.sleep(0.3)
        status, headers, said = await on.post("/v1/messages", anthropic(), x_api_key=poor)
        error = json.loads(said)["error"]
        assert (status, error["type"]) == (402, "billing_error")
        assert "$0.10 of $0.05/month" in error["message"]
        status, _, said = await on.post("/v1/chat/completions", CHAT, authorization=f"Bearer {poor}")
        assert (status, json.loads(said)["error"]["code"]) == (402, "insufficient_quota")
        status, _, said = await on.post("/v1beta/models/gemini-x:generateContent", GEMINI, x_goog_api_key=narrow)
        assert (status, json.loads(said)["error"]["status"]) == (403, "PERMISSION_DENIED")
        assert "other-*" in json.loads(said)["error"]["message"]
        status, _, said = await on.post("/v1/messages", anthropic(), x_api_key=narrow)
        assert (status, json.loads(said)["error"]["type"]) == (403, "permission_error")
        assert (await on.post("/v1/messages", anthropic(), x_api_key=slow))[0] == 200
        status, headers, said = await on.post("/v1/messages", anthropic(), x_api_key=slow)
        assert (status, json.loads(said)["error"]["type"]) == (429, "rate_limit_error")
        assert 0 < int(headers["retry-after"]) <= 60
        status, _, said = await on.post("/v1/messages", anthropic(), x_api_key="lac-0123456789-" + "0" * 48)
        assert (status, json.loads(said)["error"]["type"]) == (401, "authentication_error")
        assert len(on.upstream.asked) == 2

    play(scene, count_tokens, team=parts(place), history=recorder())


def test_without_a_team_its_keys_go_nowhere_and_others_pass() -> None:
    async def scene(on: Stage) -> None:
        status, _, _ = await on.post("/v1/messages", anthropic(), x_api_key="lac-0123456789-" + "0" * 48)
        assert status == 401
        assert on.upstream.asked == []
        assert (await on.post("/v1/messages", anthropic(), x_api_key="sk-ant-own"))[0] == 200
        assert on.upstream.asked[0].header("x-api-key") == "sk-ant-own"

    play(scene, count_tokens)


def test_a_team_may_refuse_keys_of_peoples_own(places: Places) -> None:
    place = places("team")
    key = new_key(place)

    async def scene(on: Stage) -> None:
        assert (await on.post("/v1/messages", anthropic(), x_api_key="sk-ant-own"))[0] == 401
        assert (await on.post("/v1/messages", anthropic(), x_api_key=key))[0] == 200

    play(scene, count_tokens, team=parts(place, required=True))


def test_a_key_opens_a_gateway_that_wants_its_token_from_others(places: Places) -> None:
    place = places("team")
    key = new_key(place)

    async def scene(on: Stage) -> None:
        assert (await on.post("/v1/messages", anthropic(), x_api_key="sk-ant-own"))[0] == 401
        assert (await on.post("/v1/messages", anthropic(), x_api_key=key))[0] == 200
        assert (await on.get("/laconic/sessions", x_laconic_token=key))[0] == 401

    play(scene, count_tokens, token="the gateway's token", team=parts(place))


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"claude-a","messages":[{"role":"user","content":"x"}],"model":"claude-b"}',
        b'{"model":"claude-a","messages":[{"role":"user","content":"x"}],"MODEL":"claude-b"}',
        b'{"model":"claude-a","messages":[{"role":"user","content":"x"}],"mod\\u0065l":"claude-b"}',
        anthropic(previous_response_id="resp_1"),
        anthropic(background=True),
        anthropic(container="c_1"),
        b"not json",
        b'{"messages":[{"role":"user","content":"no model"}]}',
        b"",
    ],
)
def test_a_request_that_nobody_could_pay_for_is_refused(places: Places, body: bytes) -> None:
    place = places("team")
    key = new_key(place, models="claude-a")

    async def scene(on: Stage) -> None:
        status, _, _ = await on.post("/v1/messages", body, x_api_key=key)
        assert status in {400, 403}
        assert on.upstream.asked == []

    play(scene, count_tokens, team=parts(place), history=recorder())


def test_a_compressed_request_is_read_or_refused(places: Places) -> None:
    place = places("team")
    key = new_key(place, models="claude-a")

    async def scene(on: Stage) -> None:
        packed = gzip.compress(anthropic("claude-b"))
        assert (await on.post("/v1/messages", packed, x_api_key=key, content_encoding="gzip"))[0] == 403
        assert (await on.post("/v1/messages", packed, x_api_key=key, content_encoding="odd"))[0] == 400
        packed = gzip.compress(anthropic("claude-a"))
        assert (await on.post("/v1/messages", packed, x_api_key=key, content_encoding="gzip"))[0] == 200
        assert len(on.upstream.asked) == 1

    play(scene, count_tokens, team=parts(place), history=recorder())


def test_who_switches_laconic_off_still_pays(places: Places) -> None:
    place = places("team")
    key = new_key(place, team="blue")

    async def scene(on: Stage) -> None:
        for header in ("off", "session-off"):
            agent = {"user_agent": "claude-cli/2.1 (external)", "x_laconic": header}
            assert (await on.post("/v1/messages", anthropic(), x_api_key=key, **agent))[0] == 200

    play(scene, count_tokens, team=parts(place), history=recorder())
    keys = TeamKeys(place)
    (line,) = TeamSpending(keys.file).lines("client", 0, ViewerRights("admin"))
    assert (line.name, line.requests, line.prompt, line.output) == ("claude", 2, 180, 20)
    assert line.dollars == pytest.approx(0.2)


def test_two_people_who_begin_alike_have_two_sessions(places: Places) -> None:
    place = places("team")
    alice, bob = new_key(place, owner="alice"), new_key(place, owner="bob")
    other = new_key(place, owner="alice")

    async def scene(on: Stage) -> None:
        named = {"x_laconic_session": "same"}
        said = []
        for key in (alice, bob, other):
            _, headers, _ = await on.post("/v1/messages", anthropic(), x_api_key=key, **named)
            said.append(headers["x-laconic-session"])
        assert said[0] != said[1]
        assert said[0] == said[2]  # a new key of the same person goes on with the session

    play(scene, count_tokens, team=parts(place), history=recorder())


def test_a_revoked_key_is_refused_on_every_replica_within_two_seconds(places: Places) -> None:
    place = places("team")
    key = new_key(place)

    async def run() -> None:
        async with (
            stage(count_tokens, team=parts(place)) as one,
            stage(count_tokens, team=parts(place)) as two,
        ):
            for on in (one, two):
                assert (await on.post("/v1/messages", anthropic(), x_api_key=key))[0] == 200
            keys = TeamKeys(place)
            keys.revoke(key[4:14], "test")
            until, open_at = time.monotonic() + 2.0, [one, two]
            while open_at and time.monotonic() < until:
                for on in list(open_at):
                    if (await on.post("/v1/messages", anthropic(), x_api_key=key))[0] == 401:
                        open_at.remove(on)
            assert open_at == []

    asyncio.run(run())


def test_requests_at_once_exceed_a_budget_by_one_a_replica(places: Places) -> None:
    """Each costs ten cents; forty at once on two replicas with a dollar between them."""
    place = places("team")
    key = new_key(place, budget=1.0)

    def slowly(asked: ReceivedRequest) -> ScriptedAnswer:
        return ScriptedAnswer((b'{"usage":{"input_tokens":90,', b'"output_tokens":10}}'), pause=0.05)

    async def run() -> None:
        async with (
            stage(slowly, team=parts(place), history=recorder()) as one,
            stage(slowly, team=parts(place), history=recorder()) as two,
        ):
            asks = []
            for number in range(40):
                on = (one, two)[number % 2]
                asks.append(on.post("/v1/messages", anthropic(text=f"number {number}"), x_api_key=key))
            found = [status for status, _, _ in await asyncio.gather(*asks)]
            assert set(found) == {200, 402}
            assert 10 <= found.count(200) <= 12

    asyncio.run(run())
    keys = TeamKeys(place)
    (made,) = keys.list()
    assert 1.0 <= Budgets(keys.file).spent([made])[made.id] <= 1.2 + 1e-9


def test_a_budget_takes_no_model_whose_price_nobody_knows(places: Places) -> None:
    place = places("team")
    rich, poor = new_key(place), new_key(place, budget=5.0)
    plan = Plan(b"{}", caller=Caller("session", "account", "mystery-1"))

    async def run() -> None:
        access = TeamAccess(TeamKeys(place), Prices())
        assert await access.admit(await access.verify(rich), plan, "https://api.example.com")
        with pytest.raises(TeamRefusal, match="price") as refusal:
            await access.admit(await access.verify(poor), plan, "https://api.example.com")
        assert refusal.value.status == 403
        access.stop()

    asyncio.run(run())


def test_keys_that_were_in_force_go_on_while_the_database_is_away() -> None:
    """And what they spent meanwhile is charged when it is back."""
    with _own_server() as server:
        _go_without(server)


@contextmanager
def _own_server() -> Iterator[PostgresServer]:
    """One that may be stopped."""
    try:
        server = PostgresServer().__enter__()
    except NoPostgres as error:
        pytest.skip(f"no PostgreSQL: {error}")
    try:
        yield server
    finally:
        server.__exit__(None, None, None)


def _go_without(server: PostgresServer) -> None:
    place = SharedStore(server.new_database(), "team")
    known, unseen = new_key(place, budget=0.25), new_key(place, owner="bob")
    said: list[int] = []

    async def ask(on: Stage, key: str) -> int:
        status, headers, _ = await on.post("/v1/messages", anthropic(text=f"question {len(said)}"), x_api_key=key)
        assert (status == 503) == ("retry-after" in headers)
        return status

    async def run() -> None:
        async with asyncio.timeout(90), stage(count_tokens, team=parts(place), history=recorder()) as on:
            said.append(await ask(on, known))
            await asyncio.to_thread(server.stop)
            while said[-1] == 200 and len(said) < 20:
                said.append(await ask(on, known))
                await asyncio.sleep(0.1)
            assert await ask(on, unseen) == 503
            await asyncio.to_thread(server.start)
            while await ask(on, unseen) == 503:
                await asyncio.sleep(0.2)

    asyncio.run(run())
    assert said[-1] == 402
    assert said.count(200) >= 3
    keys = TeamKeys(place)
    spent = Budgets(keys.file).spent(keys.list(owner="alice"))
    assert spent[known[4:14]] == pytest.approx(0.1 * said.count(200))


def test_a_provider_that_fails_costs_nothing(places: Places) -> None:
    place = places("team")
    key = new_key(place, budget=1.0)

    async def scene(on: Stage) -> None:
        for _ in range(3):
            assert (await on.post("/v1/messages", anthropic(), x_api_key=key))[0] == 500

    play(scene, lambda asked: ScriptedAnswer((b"{}",), status=500), team=parts(place), history=recorder())
    keys = TeamKeys(place)
    rows = keys.file.read(lambda base: base.execute("SELECT * FROM reserved").fetchall())
    assert rows == []
    assert Budgets(keys.file).spent(keys.list()) == {key[4:14]: 0.0}


def test_providers_keys_come_from_files_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-ant-file\n", "ascii")
    setting = f"anthropic=file:{tmp_path}/key, openai=env:SOME_KEY, ollama=none"
    keys = read_provider_keys(setting, {"SOME_KEY": "sk-proj-env"}.__getitem__)
    assert keys.headers(Target("anthropic", "", "", "anthropic")) == {"x-api-key": "sk-ant-file"}
    assert keys.headers(Target("openai", "", "", "chat")) == {"authorization": "Bearer sk-proj-env"}
    assert keys.headers(Target("ollama", "", "", "chat")) == {}
    assert "sk-" not in repr(keys)
    for wrong in ("anthropic", "anthropic=sk-ant-1", "anthropic=file:/none", "openai=env:NOBODY"):
        with pytest.raises(BadSetting) as error:
            read_provider_keys(wrong, lambda name: "")
        assert "sk-ant-1" not in str(error.value)
