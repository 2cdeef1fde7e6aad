"""Gemini CLI goes through the gateway with a key; every other way of signing in is refused before it starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clients.stage import DEFAULTS, GATEWAY, SERVER, Case, Refused, found, situation

from laconic.clients.gemini import Gemini
from laconic.errors import Unroutable


def _settings(how: str) -> str:
    return json.dumps({"security": {"auth": {"selectedType": how}}})


USER, PROJECT = ".gemini/settings.json", "project/.gemini/settings.json"
KEY = {USER: _settings("gemini-api-key")}
CASES = [
    Case("a key", {"gemini": "https://g.default"}, KEY, {"GEMINI_API_KEY": "k"}),
    Case("a company's proxy", {"gemini": "https://p/gemini"}, KEY, {"GOOGLE_GEMINI_BASE_URL": "https://p/gemini"}),
    Case(
        "a project's choice",
        {"gemini": "https://g.default"},
        {USER: _settings("vertex-ai"), PROJECT: _settings("gemini-api-key")},
    ),
    Case(
        "the machine's choice", {"gemini": "https://g.default"}, {"system/settings.json": _settings("gemini-api-key")}
    ),
    Case(
        "another home",
        {"gemini": "https://g.default"},
        {f"other/{USER}": _settings("gemini-api-key")},
        {"GEMINI_CLI_HOME": "HOME/other"},
    ),
    Case("a key in a file", {"gemini": "https://g.default"}, {**KEY, "project/.env": "GEMINI_API_KEY=k\n"}),
    Case(
        "a local server",
        {"gemini": "http://127.0.0.1:4000"},
        KEY,
        {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:4000"},
    ),
    Case(
        "a proxy in a file that the environment names too",
        {"gemini": "https://g.default"},
        {**KEY, ".env": "HTTPS_PROXY=http://file:1\n"},
        {"HTTPS_PROXY": "http://proxy:1"},
    ),
]
REFUSED = [
    Refused("a key that no settings name", "selectedType", environment={"GEMINI_API_KEY": "k"}),
    Refused("a Google account", "Google account", {USER: _settings("oauth-personal")}),
    Refused("Vertex AI", "Vertex", {USER: _settings("vertex-ai")}),
    Refused("a machine", "credentials of a machine", {USER: _settings("compute-default-credentials")}),
    Refused("the machine over the user", "Vertex", {**KEY, "system/settings.json": _settings("vertex-ai")}),
    Refused(
        "an address in a project's file",
        "trusted folders",
        {**KEY, "project/.env": "GOOGLE_GEMINI_BASE_URL=https://evil\n"},
    ),
    Refused(
        "an address in the user's file",
        "trusted folders",
        {**KEY, ".gemini/.env": "export GOOGLE_GEMINI_BASE_URL='https://p'\n"},
    ),
    Refused("a proxy in the user's file", "names a proxy", {**KEY, ".gemini/.env": "HTTPS_PROXY=http://proxy:1\n"}),
    Refused(
        "a proxy that wins over the environment's by its spelling",
        "names a proxy",
        {**KEY, "project/.env": "HTTPS_PROXY=http://evil:1\n"},
        {"https_proxy": "http://proxy:1"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_sends_its_requests(case: Case, tmp_path: Path) -> None:
    assert found(Gemini(tmp_path / "system" / "settings.json"), situation(tmp_path, case)) == case.expected


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=case.reason):
        found(Gemini(tmp_path / "system" / "settings.json"), situation(tmp_path, case))


def test_it_gets_an_address(tmp_path: Path) -> None:
    case = Case("", {}, KEY, {"GOOGLE_GEMINI_BASE_URL": "https://p/gemini/"}, ("-p", "hi"))
    seen, client = situation(tmp_path, case), Gemini(tmp_path / "none.json")
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, SERVER)
    assert made.variables == {"GOOGLE_GEMINI_BASE_URL": f"{GATEWAY}/gemini/gemini"}
    assert made.words == ("gemini", "-p", "hi")
