"""opencode's providers keep their hosts: every one that is configured, from every file that opencode reads."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.clients.stage import DEFAULTS, GATEWAY, SERVER, Case, Refused, found, situation

from laconic.clients.opencode import Opencode
from laconic.errors import Unroutable


def _config(url: str, id: str = "company", **more: object) -> str:
    options = {"baseURL": url, "apiKey": "company-key", "headers": {"x-team": "a"}}
    return json.dumps({"provider": {id: {"npm": "@ai-sdk/openai-compatible", "options": options}}, **more})


USER, PROJECT = ".config/opencode/opencode.json", "project/opencode.json"
AUTH = ".local/share/opencode/auth.json"
CATALOG = {
    ".cache/opencode/models.json": json.dumps(
        {
            "deepseek": {"npm": "@ai-sdk/openai-compatible", "api": "https://d/v1", "env": ["DEEPSEEK_API_KEY"]},
            "cloud": {"npm": "@ai-sdk/openai-compatible", "api": "https://${REGION}.c/v1", "env": ["CLOUD_KEY"]},
            "mixed": {
                "api": "https://m/v1",
                "env": ["MIXED_KEY"],
                "models": {"a": {"provider": {"api": "https://n"}}},
            },
            "azure": {"npm": "@ai-sdk/azure", "env": ["AZURE_KEY"]},
        }
    )
}
CASES = [
    Case(
        "a key in the environment",
        {"anthropic": "https://anthropic.default/v1"},
        environment={"ANTHROPIC_API_KEY": "k"},
    ),
    Case(
        "keys of three",
        {
            "anthropic": "https://anthropic.default/v1",
            "openai": "https://openai.default/v1",
            "google": "https://g.default/v1beta",
        },
        environment={"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"},
    ),
    Case(
        "addresses in the environment",
        {"anthropic": "https://e/a", "openai": "https://e/o"},
        environment={
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": "https://e/a",
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": "https://e/o",
        },
    ),
    Case("a project", {"company": "https://p/v1"}, {PROJECT: _config("https://p/v1")}),
    Case("a user", {"company": "https://u/v1"}, {USER: _config("https://u/v1")}),
    Case(
        "a project over a user",
        {"company": "https://p/v1"},
        {USER: _config("https://u/v1"), PROJECT: _config("https://p/v1")},
    ),
    Case(
        "comments over none",
        {"company": "https://c/v1"},
        {PROJECT: _config("https://p/v1"), f"{PROJECT}c": "// x\n" + _config("https://c/v1")},
    ),
    Case(
        "a file that is named",
        {"company": "https://n/v1"},
        {"n.json": _config("https://n/v1"), USER: _config("https://u/v1")},
        {"OPENCODE_CONFIG": "HOME/n.json"},
    ),
    Case(
        "a project over a named file",
        {"company": "https://p/v1"},
        {"n.json": _config("https://n/v1"), PROJECT: _config("https://p/v1")},
        {"OPENCODE_CONFIG": "HOME/n.json"},
    ),
    Case(
        "an inner folder over a project",
        {"company": "https://i/v1"},
        {PROJECT: _config("https://p/v1"), "project/.opencode/opencode.json": _config("https://i/v1")},
    ),
    Case(
        "a folder that is named",
        {"company": "https://d/v1"},
        {"d/opencode.json": _config("https://d/v1"), PROJECT: _config("https://p/v1")},
        {"OPENCODE_CONFIG_DIR": "HOME/d"},
    ),
    Case(
        "a variable over files",
        {"company": "https://v/v1"},
        {PROJECT: _config("https://p/v1")},
        {"OPENCODE_CONFIG_CONTENT": _config("https://v/v1")},
    ),
    Case(
        "projects switched off",
        {"company": "https://u/v1"},
        {USER: _config("https://u/v1"), PROJECT: _config("https://p/v1")},
        {"OPENCODE_DISABLE_PROJECT_CONFIG": "1"},
    ),
    Case(
        "a variable inside",
        {"company": "https://env.company/v1"},
        {USER: _config("{env:PROXY}/v1")},
        {"PROXY": "https://env.company"},
    ),
    Case(
        "a file inside",
        {"company": "https://file.company/v1"},
        {USER: _config("{file:./url.txt}"), ".config/opencode/url.txt": "https://file.company/v1\n"},
    ),
    Case(
        "Anthropic behind a proxy with the key of a login",
        {"anthropic": "https://p/anthropic/v1"},
        {USER: _config("https://p/anthropic/v1", "anthropic"), AUTH: '{"anthropic": {"type": "api", "key": "k"}}'},
    ),
    Case(
        "the one address that its package completes",
        {"anthropic": "https://api.anthropic.com/v1"},
        {USER: json.dumps({"provider": {"anthropic": {"options": {"baseURL": "https://api.anthropic.com/"}}}})},
    ),
    Case(
        "a local server beside a key",
        {"ollama": "http://127.0.0.1:11434/v1", "openai": "https://openai.default/v1"},
        {USER: _config("http://127.0.0.1:11434/v1", "ollama")},
        {"OPENAI_API_KEY": "k"},
    ),
    Case("a provider of the catalogue", {"deepseek": "https://d/v1"}, CATALOG, {"DEEPSEEK_API_KEY": "k"}),
    Case("an address with a variable", {"cloud": "https://eu.c/v1"}, CATALOG, {"CLOUD_KEY": "k", "REGION": "eu"}),
    Case(
        "what has no address is left to itself",
        {"deepseek": "https://d/v1"},
        CATALOG,
        {"DEEPSEEK_API_KEY": "k", "AZURE_KEY": "k", "MIXED_KEY": "k", "CLOUD_KEY": "k"},
    ),
    Case(
        "a login that chooses addresses is left to itself",
        {"company": "https://u/v1"},
        {USER: _config("https://u/v1"), AUTH: '{"openai": {"type": "oauth"}}'},
    ),
    Case(
        "a provider switched off",
        {"openai": "https://openai.default/v1"},
        {USER: _config("https://u/v1", disabled_providers=["company"])},
        {"OPENAI_API_KEY": "k"},
    ),
    Case(
        "only some providers",
        {"company": "https://u/v1"},
        {USER: _config("https://u/v1", enabled_providers=["company"])},
        {"OPENAI_API_KEY": "k"},
    ),
    Case(
        "a run in another folder",
        {"company": "https://other/v1"},
        {
            PROJECT: _config("https://project/v1"),
            "other/.git/HEAD": "",
            "other/opencode.json": _config("https://other/v1"),
        },
        args=("run", "--dir", "../other", "hi"),
    ),
    Case(
        "started for another folder",
        {"company": "https://other/v1"},
        {
            PROJECT: _config("https://project/v1"),
            "other/.git/HEAD": "",
            "other/opencode.json": _config("https://other/v1"),
        },
        args=("--model", "company/m", "../other"),
    ),
    Case(
        "a prompt that is the name of a folder",
        {"company": "https://project/v1"},
        {PROJECT: _config("https://project/v1"), "project/src/opencode.json": _config("https://src/v1")},
        args=("--prompt", "src"),
    ),
]
REFUSED = [
    Refused("nothing configured", "no provider"),
    Refused(
        "a configuration from a server",
        "fetches its configuration",
        {USER: _config("https://u/v1"), AUTH: '{"https://company": {"type": "wellknown", "key": "K", "token": "t"}}'},
    ),
    Refused(
        "a managed address",
        "fixes the address",
        {USER: _config("https://u/v1"), "managed/opencode.json": _config("https://m/v1")},
    ),
    Refused(
        "a model whose provider is unknown",
        "is not known",
        {USER: _config("https://u/v1")},
        args=("run", "-m", "nobody/x", "hi"),
    ),
    Refused(
        "a model behind a login",
        "its login",
        {USER: _config("https://u/v1", model="openai/gpt-5"), AUTH: '{"openai": {"type": "oauth"}}'},
    ),
    Refused(
        "a model without an address",
        "its address is not known",
        CATALOG,
        {"AZURE_KEY": "k"},
        ("run", "--model=azure/x"),
    ),
    Refused("a model with several addresses", "different addresses", CATALOG, {"MIXED_KEY": "k"}, ("-m", "mixed/a")),
    Refused("a broken file", "is not JSON", {PROJECT: "{"}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_sends_its_requests(case: Case, tmp_path: Path) -> None:
    assert found(Opencode(tmp_path / "managed"), situation(tmp_path, case)) == case.expected


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=case.reason):
        found(Opencode(tmp_path / "managed"), situation(tmp_path, case))


def test_the_nearest_file_of_a_repository_wins_and_files_above_it_do_not_count(tmp_path: Path) -> None:
    files = {"opencode.json": _config("https://above/v1", "other"), PROJECT: _config("https://root/v1")}
    seen = situation(tmp_path, Case("", {}, {**files, "project/sub/opencode.json": _config("https://sub/v1")}))
    inside = type(seen)(seen.folder / "sub", seen.environment)
    assert found(Opencode(tmp_path), inside) == {"company": "https://sub/v1"}


def test_an_organisation_that_is_signed_in_is_refused(tmp_path: Path) -> None:
    seen = situation(tmp_path, Case("", {}, {USER: _config("https://u/v1"), AUTH: "{}"}))
    with sqlite3.connect(tmp_path / ".local/share/opencode/opencode.db") as database:
        database.execute("CREATE TABLE account_state (id INTEGER, active_account_id TEXT, active_org_id TEXT)")
        database.execute("INSERT INTO account_state VALUES (1, 'a', NULL)")
        database.commit()
        assert found(Opencode(tmp_path), seen) == {"company": "https://u/v1"}
        database.execute("UPDATE account_state SET active_org_id = 'o'")
        database.commit()
    database.close()
    with pytest.raises(Unroutable, match="organisation"):
        found(Opencode(tmp_path), seen)


def test_each_provider_has_a_path_of_its_own_and_keeps_the_rest_of_its_configuration(tmp_path: Path) -> None:
    config = {
        "provider": {
            name: {"options": {"baseURL": f"https://{at}/api/v1"}}
            for name, at in (("A.I", "x"), ("a-i", "y"), ("metrics", "z"))
        }
    }
    given = json.dumps({"share": "disabled", "mcp": {"mine": {"type": "remote", "url": "http://m"}}})
    case = Case("", {}, {USER: json.dumps(config)}, {"OPENCODE_CONFIG_CONTENT": given}, ("run", "hi"))
    seen, client = situation(tmp_path, case), Opencode(tmp_path)
    upstreams = client.find_upstreams(seen, DEFAULTS)
    made = client.launch(seen, upstreams, GATEWAY, SERVER)
    read = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])
    assert {name: held["options"]["baseURL"] for name, held in read["provider"].items()} == {
        "A.I": f"{GATEWAY}/a-i/api/v1",
        "a-i": f"{GATEWAY}/a-i-2/api/v1",
        "metrics": f"{GATEWAY}/metrics-provider/api/v1",
    }
    assert [one.origin for one in upstreams] == ["https://x", "https://y", "https://z"]
    assert (read["share"], sorted(read["mcp"])) == ("disabled", ["laconic", "mine"])
    assert made.words == ("opencode", "run", "hi")
