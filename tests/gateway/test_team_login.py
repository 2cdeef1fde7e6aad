"""Login: the OpenID provider of an organisation vouches for people, and they get keys; nobody else does."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.conftest import Places
from tests.gateway.open_id import CLIENT, OpenIdServer
from tests.gateway.teams import anthropic, count_tokens

from laconic.cli.commands import login as command
from laconic.cli.commands.gateway import application, known_upstreams
from laconic.cli.main import parser_for
from laconic.config import Settings, load
from laconic.errors import BadSetting, NotAllowed, UpstreamError, UsageError
from laconic.gateway.device_login import DeviceCode, log_in
from laconic.gateway.identity_provider import IdentityProvider, check_address, fetch
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for
from laconic.sessions.store import SharedStore
from laconic.sessions.team.keys import TeamKeys


@asynccontextmanager
async def _team(
    places: Places, tmp_path: Path, provider: OpenIdServer, **more: str
) -> AsyncIterator[tuple[str, Settings]]:
    """A gateway with login, and what is behind it."""
    place = places("team")
    (tmp_path / "secret").write_text("sk-ant-real", "ascii")
    async with ScriptedUpstream(provider) as identities, ScriptedUpstream(count_tokens) as upstream:
        provider.base = identities.url
        own = {
            "cache_dir": str(tmp_path),
            "state_dir": str(tmp_path / "state"),
            "store": place.url if isinstance(place, SharedStore) else "",
            "team.provider_keys": f"anthropic=file:{tmp_path}/secret",
            "team.oidc_issuer": identities.url,
            "team.oidc_client": CLIENT,
            "team.login_budget": "5/month",
            **more,
        }
        settings = load(flags=own, environ={}, file=tmp_path / "none.toml")
        where = listen("127.0.0.1:0", "", "", "", insecure=False)
        opened = bind(where)
        known = known_upstreams(settings, upstream.url, upstream.url, upstream.url)
        server = server_for(application(known, settings, off=False, where=where), where)
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{opened.getsockname()[1]}", settings
        finally:
            server.should_exit = True
            await serving


async def _bring(base: str, body: bytes) -> tuple[int, dict[str, str]]:
    async with aiohttp.ClientSession() as client, client.post(base + "/laconic/login/", data=body) as answer:
        return answer.status, json.loads(await answer.read())


def test_a_person_confirms_a_code_and_gets_a_key_that_works(places: Places, tmp_path: Path) -> None:
    provider = OpenIdServer()
    provider.person["groups"] = ["blue", "all"]

    async def run() -> None:
        seen: list[DeviceCode] = []
        async with _team(places, tmp_path, provider, **{"team.oidc_team_claim": "groups"}) as (base, settings):
            issued = await log_in(base, seen.append)
            assert seen[0].user_code == "ABCD-EFGH"
            assert issued.owner == "alice@example.com"
            async with aiohttp.ClientSession() as client:
                headers = {"x-api-key": issued.key}
                async with client.post(
                    base + "/v1/messages", data=anthropic("claude-sonnet-4-5"), headers=headers
                ) as said:
                    assert said.status == 200
            (key,) = TeamKeys.of(settings).list()
            assert (key.owner, key.team, key.role, key.budget) == ("alice@example.com", "blue", "developer", 5.0)
            assert key.purse == "login alice@example.com"
            assert key.expires > time.time() + 80 * 86_400

    asyncio.run(run())


def test_who_is_refused_gets_no_key(places: Places, tmp_path: Path) -> None:
    provider = OpenIdServer()
    provider.denied = True

    async def run() -> None:
        async with _team(places, tmp_path, provider) as (base, settings):
            with pytest.raises(NotAllowed, match="access_denied"):
                await log_in(base, lambda code: None)
            assert TeamKeys.of(settings).list() == []

    asyncio.run(run())


def _public(provider: OpenIdServer) -> bytes:
    form, kind = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return provider.key.public_key().public_bytes(form, kind)


def _confused(provider: OpenIdServer) -> str:
    """Signed with the public key as if it were a shared secret."""
    claims = {"iss": provider.base, "aud": CLIENT, "iat": time.time(), "exp": time.time() + 60, **provider.person}
    header, body = jwt.encode(claims, "x" * 64, "HS256", headers={"kid": "one"}).split(".")[:2]
    import hmac

    signature = hmac.new(_public(provider), f"{header}.{body}".encode(), "sha256").digest()
    return f"{header}.{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def _with_header(provider: OpenIdServer, **more: object) -> str:
    """A token in order, whose header says something else than what was signed."""
    header, _, rest = provider.sign().partition(".")
    told = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    changed = base64.urlsafe_b64encode(json.dumps({**told, **more}).encode()).rstrip(b"=").decode()
    return f"{changed}.{rest}"


FORGED: dict[str, Callable[[OpenIdServer], str]] = {
    "another key": lambda one: one.sign(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
    "no signature": lambda one: one.sign("", "none"),
    "a public key as a secret": _confused,
    "an unknown key": lambda one: one.sign(kid="two"),
    "another algorithm": lambda one: one.sign(algorithm="RS512"),
    "another audience": lambda one: one.sign(aud="other"),
    "another client": lambda one: one.sign(azp="other"),
    "another issuer": lambda one: one.sign(iss="https://evil.example"),
    "expired": lambda one: one.sign(iat=time.time() - 400, exp=time.time() - 100),
    "old": lambda one: one.sign(iat=time.time() - 4000),
    "no end": lambda one: one.sign(exp=None),
    "an address nobody verified": lambda one: one.sign(email_verified=False),
    "a word in place of true": lambda one: one.sign(email_verified="true"),
    "no address": lambda one: one.sign(email=None),
    "another organisation": lambda one: one.sign(email="eve@evil.example"),
    "a domain at the end": lambda one: one.sign(email="eve@evil-example.com"),
    "an address with a tail": lambda one: one.sign(email="eve@evil.example#@example.com.evil.example"),
    "a number in place of true": lambda one: one.sign(email_verified=1),
    "an address that is a list": lambda one: one.sign(email=["alice@example.com"]),
    "an address of spaces": lambda one: one.sign(email="  "),
    "from the future": lambda one: one.sign(iat=time.time() + 4000, exp=time.time() + 5000),
    "not yet": lambda one: one.sign(nbf=time.time() + 4000),
    "an age that is a word": lambda one: one.sign(iat="now"),
    "no age": lambda one: one.sign(iat=None),
    "nobody": lambda one: one.sign(sub=None),
    "an audience that only begins like ours": lambda one: one.sign(aud=CLIENT + "-2"),
    "a list of other audiences": lambda one: one.sign(aud=["a", "b"]),
    "an issuer that only begins like ours": lambda one: one.sign(iss=one.base + ".evil.example"),
    "no id of a key": lambda one: one.sign(kid=""),
    "an id that is a path": lambda one: one.sign(kid="../../keys"),
    "a key of its own": lambda one: _with_header(one, jwk={"kty": "oct", "k": "AAAA"}, kid="two"),
    "an address for its key": lambda one: _with_header(one, jku="https://evil.example/keys", kid="two"),
    "a demand nobody knows": lambda one: _with_header(one, crit=["x"], x=1),
    "the header of another algorithm": lambda one: _with_header(one, alg="none"),
    "the header in capitals": lambda one: _with_header(one, alg="NONE"),
    "a body without a signature": lambda one: one.sign().rpartition(".")[0] + ".",
    "four parts": lambda one: one.sign() + ".AAAA",
    "two tokens": lambda one: one.sign() + " " + one.sign(),
    "nonsense": lambda one: "a.b.c",
    "changed": lambda one: one.sign()[:-6] + "AAAAAA",
}


def test_forged_tokens_get_no_key(places: Places, tmp_path: Path) -> None:
    provider = OpenIdServer()

    async def run() -> None:
        async with _team(places, tmp_path, provider, **{"team.oidc_domains": "example.com"}) as (base, settings):
            for name, forge in FORGED.items():
                status, said = await _bring(base, json.dumps({"id_token": forge(provider)}).encode())
                assert status == 403, name
                assert "key" not in said, name
            nested = base64.urlsafe_b64encode(b"[" * 14_000).decode()
            bodies = [b"", b"{}", b'{"id_token": 5}', b"x" * 50_000, b'{"id_token": ' + b"[" * 15_000]
            bodies += [b'{"more": ' + b"[" * 15_000, json.dumps({"id_token": f"{nested}.e30.e30"}).encode()]
            for body in bodies:
                assert (await _bring(base, body))[0] == 403
            keys = TeamKeys.of(settings)
            assert keys.list() == []
            assert (await _bring(base, json.dumps({"id_token": provider.sign()}).encode()))[0] == 200  # in order

    asyncio.run(run())


def test_the_oldest_of_many_logins_ends(places: Places, tmp_path: Path) -> None:
    provider = OpenIdServer()

    async def run() -> None:
        async with _team(places, tmp_path, provider) as (base, settings):
            given = []
            for _ in range(7):
                status, said = await _bring(base, json.dumps({"id_token": provider.sign()}).encode())
                assert status == 200
                given.append(said["key"][4:14])
            assert [key.id for key in TeamKeys.of(settings).list()] == given[:1:-1]

    asyncio.run(run())


def test_the_command_keeps_the_key_for_its_owner_only(
    tmp_path: Path, places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = OpenIdServer()

    async def run() -> None:
        async with _team(places, tmp_path, provider) as (base, settings):

            def call(*words: str) -> str:
                assert command.run(parser_for("login", command).parse_args([*words, base]), settings) == 0
                return capsys.readouterr().out

            with pytest.raises(UsageError, match="no key"):
                call("--key")
            assert "alice@example.com" in await asyncio.to_thread(call)
            (file,) = (settings.state_dir() / "team-keys").iterdir()
            assert file.stat().st_mode & 0o777 == 0o600
            assert call("--key").strip() == file.read_text().strip()
            call("--remove")
            assert not file.exists()

    asyncio.run(run())


def test_an_answer_that_comes_in_pieces_is_read_whole() -> None:
    """Lists of keys are long; one that never ends is refused."""

    async def run() -> None:
        async with ScriptedUpstream(lambda asked: ScriptedAnswer((b"ab", b"cd", b"ef"), pause=0.05)) as upstream:
            assert await fetch(upstream.url) == b"abcdef"
        async with ScriptedUpstream(lambda asked: ScriptedAnswer((b"a" * 100_000,) * 20)) as upstream:
            with pytest.raises(UpstreamError, match="more than"):
                await fetch(upstream.url)

    asyncio.run(run())


@pytest.mark.parametrize("key", ["", "x", "lac-1; rm -rf ~", "lac-0123456789-" + "0" * 48 + "\n"])
def test_what_a_gateway_gives_must_be_a_key(key: str) -> None:
    """It is written into files and shells."""

    async def run() -> None:
        def say(asked: ReceivedRequest) -> ScriptedAnswer:
            if asked.method == "POST" and asked.path == "/laconic/login/":
                return ScriptedAnswer((json.dumps({"key": key, "owner": "a", "expires": 0}).encode(),))
            if asked.path == "/laconic/login/":
                device, token = f"{upstream.url}/device", f"{upstream.url}/token"
                offer = {"issuer": "i", "client": "c", "scope": "s", "token_endpoint": token}
                return ScriptedAnswer((json.dumps({**offer, "device_authorization_endpoint": device}).encode(),))
            if asked.path == "/device":
                code = {"device_code": "d", "user_code": "u", "verification_uri": "v", "interval": 0}
                return ScriptedAnswer((json.dumps(code).encode(),))
            return ScriptedAnswer((b'{"id_token": "t"}',))

        async with ScriptedUpstream(say) as upstream:
            with pytest.raises(UpstreamError, match="no key"):
                await log_in(upstream.url, lambda code: None)

    asyncio.run(run())


def test_what_a_provider_says_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    command._tell(DeviceCode("d", "A\x1b]0;x\x07\n", "https://x/\x1b[2J"))
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.count("\n") == 2


def test_secrets_travel_encrypted_or_stay_on_this_machine() -> None:
    for wrong in (
        "http://login.example.com",
        "http://10.0.0.1",
        "ftp://x",
        "https://",
        "http://127.0.0.1.evil.example",
    ):
        with pytest.raises(BadSetting):
            check_address(wrong)
    with pytest.raises(BadSetting):
        IdentityProvider("https://login.example.com", "")
