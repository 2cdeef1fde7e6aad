"""Codex keeps its provider, and only the address of that provider is replaced."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest
from tests.clients.stage import DEFAULTS, GATEWAY, SERVER, Case, Refused, found, situation

from laconic.clients.codex import Codex
from laconic.clients.codex_chatgpt_backend import ask_account, find_workspace
from laconic.clients.wrapped_client import Launch
from laconic.errors import Unroutable
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.outbound_proxies import OutboundProxies

CHATGPT = "https://chatgpt.com/backend-api/codex"
CONFIG, AUTH = ".codex/config.toml", ".codex/auth.json"
COMPANY = """model_provider = "company"
[model_providers.company]
name = "Company"
base_url = "https://proxy.company/openai/v1"
env_key = "COMPANY_KEY"
http_headers = { x-team = "a" }
"""
ACCOUNT = '{"auth_mode": "chatgpt", "OPENAI_API_KEY": null, "tokens": {"access_token": "t"}}'
API = {"openai": "https://openai.default/v1"}
PROXY = {"company": "https://proxy.company/openai/v1"}
CASES = [
    Case("a key", API, {AUTH: '{"OPENAI_API_KEY": "k"}'}),
    Case("a key with its mode", API, {AUTH: '{"auth_mode": "apikey", "OPENAI_API_KEY": "k"}'}),
    Case("an account", {"openai": CHATGPT}, {AUTH: ACCOUNT}),
    Case("an account of an older version", {"openai": CHATGPT}, {AUTH: '{"tokens": {"access_token": "t"}}'}),
    Case("an access token", {"openai": CHATGPT}, environment={"CODEX_ACCESS_TOKEN": "t"}),
    Case("a key for exec", API, {AUTH: ACCOUNT}, {"CODEX_API_KEY": "k"}, ("exec", "hi")),
    Case("a key for exec is not for the rest", {"openai": CHATGPT}, {AUTH: ACCOUNT}, {"CODEX_API_KEY": "k"}),
    Case("another address for OpenAI", {"openai": "https://o/v1"}, {CONFIG: 'openai_base_url = "https://o/v1"'}),
    Case(
        "a variable that Codex ignores", API, {AUTH: '{"OPENAI_API_KEY": "k"}'}, {"OPENAI_BASE_URL": "https://env/v1"}
    ),
    Case("a provider of the user", PROXY, {CONFIG: COMPANY}),
    Case("a provider without an account", PROXY, {CONFIG: COMPANY, AUTH: ACCOUNT}),
    Case("a moved folder", PROXY, {"other/config.toml": COMPANY}, {"CODEX_HOME": "HOME/other"}),
    Case("a profile", PROXY, {".codex/work.config.toml": COMPANY}, args=("exec", "-p", "work", "hi")),
    Case("the machine's configuration", PROXY, {"system/config.toml": COMPANY}),
    Case(
        "the user's over the machine's",
        {"openai": "https://o/v1"},
        {"system/config.toml": COMPANY, CONFIG: 'model_provider = "openai"\nopenai_base_url = "https://o/v1"'},
    ),
    Case(
        "a project cannot choose a provider",
        API,
        {"project/.codex/config.toml": COMPANY, AUTH: '{"OPENAI_API_KEY": "k"}'},
    ),
    Case(
        "the command line over files",
        {"company": "https://other/v1"},
        {CONFIG: COMPANY},
        args=("exec", "-c", 'model_providers.company.base_url="https://other/v1"', "hi"),
    ),
    Case(
        "a whole provider on the command line",
        {"new": "https://new/v1"},
        args=("--config=model_provider=new", "-c", 'model_providers.new={ name = "n", base_url = "https://new/v1" }'),
    ),
    Case(
        "a provider that uses the account",
        {"company": CHATGPT},
        {CONFIG: COMPANY.replace("base_url", "requires_openai_auth = true #"), AUTH: ACCOUNT},
    ),
    Case("a local server", {"ollama": "http://localhost:11434/v1"}, {CONFIG: 'model_provider = "ollama"'}),
    Case(
        "another local server",
        {"lmstudio": "http://localhost:1234/v1"},
        args=("--oss", "--local-provider", "lmstudio"),
    ),
    Case(
        "a local server on a port",
        {"ollama": "http://localhost:7/v1"},
        {CONFIG: 'oss_provider = "ollama"'},
        {"CODEX_OSS_PORT": "7"},
        ("--oss",),
    ),
    Case(
        "a local server elsewhere",
        {"ollama": "http://box:1/v1"},
        {CONFIG: 'model_provider = "ollama"'},
        {"CODEX_OSS_BASE_URL": "http://box:1/v1"},
    ),
]
REFUSED = [
    Refused("nobody signed in", "not signed in"),
    Refused("a key that Codex ignores", "not signed in", environment={"OPENAI_API_KEY": "k"}),
    Refused("a keyring", "keyring", {CONFIG: 'cli_auth_credentials_store = "keyring"'}),
    Refused("bedrock", "Amazon Bedrock", {CONFIG: 'model_provider = "amazon-bedrock"'}),
    Refused("a signed provider", "signs its requests", {CONFIG: COMPANY + 'aws = { region = "x" }\n'}),
    Refused("an unknown provider", "no model provider", {CONFIG: 'model_provider = "nobody"'}),
    Refused("a local server to be found", "--local-provider", args=("--oss",)),
    Refused("a managed provider", "managed_config.toml", {"system/managed_config.toml": COMPANY}),
    Refused("a broken file", "is not TOML", {CONFIG: "model_provider = "}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_sends_its_requests(case: Case, tmp_path: Path) -> None:
    client = Codex(tmp_path / "system", lambda base, token, account, proxy: {})
    assert found(client, situation(tmp_path, case)) == case.expected


OWN = "https://eu.chatgpt.example"
SIGNED_IN = '{"auth_mode": "chatgpt", "tokens": {"access_token": "t", "account_id": "two"}}'


def _accounts(**of_two: object) -> bytes:
    one = {"account_id": "one", "workspace_backend_origin": "https://other.example"}
    return json.dumps({"accounts": [one, {"account_id": "two", **of_two}], "default_account_id": "one"}).encode()


def _find_at(answer: ScriptedAnswer, home: Path) -> tuple[dict[str, str], list[ReceivedRequest]]:
    """Where requests of an account go, if the account's service gives this answer; and what it was asked."""

    async def ask() -> tuple[dict[str, str], list[ReceivedRequest]]:
        async with ScriptedUpstream(lambda _: answer) as service:
            config = f'chatgpt_base_url = "{service.url}/backend-api/"'
            seen = situation(home, Case("", {}, {AUTH: SIGNED_IN, CONFIG: config}))
            return await asyncio.to_thread(found, Codex(home / "system"), seen), service.asked

    return asyncio.run(ask())


def test_the_backend_of_a_workspace_is_asked_for_as_codex_does(tmp_path: Path) -> None:
    body = _accounts(workspace_backend_origin=OWN, account_routing_override="NO_CONSTRAINT")
    urls, (asked,) = _find_at(ScriptedAnswer((body,)), tmp_path)
    assert urls == {"openai": f"{OWN}/backend-api/codex"}
    assert asked.path == "/backend-api/wham/accounts/check"
    assert (asked.header("authorization"), asked.header("chatgpt-account-id")) == ("Bearer t", "two")


def test_a_service_that_does_not_know_workspaces_has_one_backend(tmp_path: Path) -> None:
    assert _find_at(ScriptedAnswer((b"no",), status=404), tmp_path)[0] == {"openai": CHATGPT}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ScriptedAnswer((b"no",), status=401), "HTTP 401"),
        (ScriptedAnswer((b"",), status=302), "HTTP 302"),
        (ScriptedAnswer((b"[]",)), "does not say"),
        (ScriptedAnswer((b'{"accounts": [{"id": "one"}]}',)), "does not know the account"),
        (ScriptedAnswer((_accounts(account_routing_override="us"),)), r"\(us\)"),
    ],
)
def test_a_backend_that_is_not_certain_is_refused(answer: ScriptedAnswer, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=reason):
        _find_at(answer, tmp_path)


def test_a_service_that_is_away_is_no_reason_to_guess() -> None:
    with pytest.raises(Unroutable, match="does not say"):
        ask_account("http://127.0.0.1:9", "t", "", None)


def test_the_default_account_counts_where_the_login_names_none() -> None:
    accounts = [{"id": "a", "workspace_backend_origin": "https://a.example/"}, {"id": "b"}]
    assert find_workspace({"accounts": accounts, "default_account_id": "a"}, "") == "https://a.example"


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=case.reason):
        found(Codex(tmp_path / "system"), situation(tmp_path, case))


DOTENV = ".codex/.env"
SIGNED = {".codex/auth.json": '{"OPENAI_API_KEY": "k"}'}


def _proxy_for(url: str, home: Path, case: Case) -> str | None:
    client = Codex(home / "system")
    return OutboundProxies.read(client.connection_variables(situation(home, case)), client.proxy_rules).find(url)


@pytest.mark.parametrize(
    ("environment", "file", "expected"),
    [
        ({"HTTPS_PROXY": "http://env:1"}, "", "http://env:1"),
        ({"HTTPS_PROXY": "http://upper:1", "https_proxy": "http://lower:1"}, "", "http://upper:1"),
        ({"ALL_PROXY": "http://all:1"}, "", "http://all:1"),
        ({"HTTP_PROXY": "http://plain:1"}, "", None),
        ({"HTTPS_PROXY": "http://env:1"}, "HTTPS_PROXY=http://file:1", "http://file:1"),
        ({"HTTPS_PROXY": "http://env:1"}, "NO_PROXY=api.example", None),
    ],
)
def test_the_proxy_is_the_one_that_codex_uses(
    environment: dict[str, str], file: str, expected: str | None, tmp_path: Path
) -> None:
    case = Case("", {}, {DOTENV: file}, environment)
    assert _proxy_for("https://api.example/v1", tmp_path, case) == expected


def test_a_file_beside_the_configuration_sets_variables_but_none_of_its_own(tmp_path: Path) -> None:
    files = {**SIGNED, DOTENV: "CODEX_OSS_BASE_URL=http://file.example\nNO_PROXY=a"}
    seen = situation(tmp_path, Case("", {}, files))
    assert "CODEX_OSS_BASE_URL" not in Codex(tmp_path).connection_variables(seen)
    assert Codex(tmp_path).connection_variables(seen)["NO_PROXY"] == "a"


def test_a_key_is_never_shown_to_the_proxy_on_its_way_to_the_gateway(tmp_path: Path) -> None:
    """A file that wins over the environment would lead requests for this machine through the company's proxy."""
    client, proxies = Codex(tmp_path / "system"), "HTTP_PROXY=http://proxy.company:3128\nNO_PROXY="
    seen = situation(tmp_path / "a", Case("", {}, {**SIGNED, DOTENV: proxies + "company"}))
    with pytest.raises(Unroutable, match=r"\.env, requests for this machine would go through the proxy"):
        client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, SERVER)
    seen = situation(tmp_path / "b", Case("", {}, {**SIGNED, DOTENV: proxies + "company,127.0.0.1"}))
    assert client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, SERVER).words[0] == "codex"


def test_the_account_is_asked_through_the_proxy_that_codex_uses(tmp_path: Path) -> None:
    asked: list[str | None] = []

    def ask(base: str, token: str, account: str, proxy: str | None) -> dict[str, object]:
        asked.append(proxy)
        return {}

    files = {AUTH: SIGNED_IN, DOTENV: "HTTPS_PROXY=http://proxy.company:3128"}
    found(Codex(tmp_path / "system", ask), situation(tmp_path, Case("", {}, files)))
    assert asked == ["http://proxy.company:3128"]


def _launched(tmp_path: Path, case: Case) -> Launch:
    seen = situation(tmp_path, case)
    client = Codex(tmp_path / "system", lambda base, token, account, proxy: {})
    return client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, SERVER)


def _overrides(made: Launch) -> list[str]:
    return [made.words[at + 1] for at, word in enumerate(made.words) if word == "-c"]


def test_only_the_address_of_its_provider_changes(tmp_path: Path) -> None:
    made = _launched(tmp_path, Case("", {}, {CONFIG: COMPANY}, args=("exec", "hi")))
    read = tomllib.loads("\n".join(_overrides(made)))
    assert read["model_providers"] == {"company": {"base_url": f"{GATEWAY}/company/openai/v1"}}
    assert read["mcp_servers"]["laconic"]["args"] == SERVER[1:]
    assert made.words[-2:] == ("exec", "hi")


def test_an_account_is_led_to_its_own_host(tmp_path: Path) -> None:
    made = _launched(tmp_path, Case("", {}, {AUTH: ACCOUNT}))
    assert _overrides(made)[0] == f'openai_base_url="{GATEWAY}/openai/backend-api/codex"'


def test_our_address_stands_behind_the_one_of_the_command_line(tmp_path: Path) -> None:
    args = ("exec", "-c", 'openai_base_url="https://mine/v1"', "hi", "--", "-c")
    made = _launched(tmp_path, Case("", {}, args=args))
    assert made.words[:6] == ("codex", *args[:3], "-c", f'openai_base_url="{GATEWAY}/openai/v1"')
    assert made.words[-3:] == ("hi", "--", "-c")


def test_a_local_server_is_led_by_its_variable(tmp_path: Path) -> None:
    made = _launched(tmp_path, Case("", {}, {CONFIG: 'model_provider = "ollama"'}))
    assert made.variables == {"CODEX_OSS_BASE_URL": f"{GATEWAY}/ollama/v1"}
