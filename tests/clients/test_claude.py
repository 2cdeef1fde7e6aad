"""Claude Code is sent where its settings send it, in its own order of precedence."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.clients.stage import DEFAULTS, GATEWAY, SERVER, Case, Refused, found, situation

from laconic.clients.claude import Claude
from laconic.clients.wrapped_client import FOLDER
from laconic.errors import Unroutable
from laconic.outbound_proxies import OutboundProxies


def _settings(url: str) -> str:
    return json.dumps({"env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "company-key"}})


USER, PROJECT, LOCAL = (
    ".claude/settings.json",
    "project/.claude/settings.json",
    "project/.claude/settings.local.json",
)
CASES = [
    Case("nothing configured", {"anthropic": "https://anthropic.default"}),
    Case("environment", {"anthropic": "https://env/x"}, environment={"ANTHROPIC_BASE_URL": "https://env/x"}),
    Case(
        "user settings over the environment",
        {"anthropic": "https://user"},
        {USER: _settings("https://user")},
        {"ANTHROPIC_BASE_URL": "https://env"},
    ),
    Case("its own file", {"anthropic": "https://own"}, {".claude.json": _settings("https://own")}),
    Case(
        "user settings over its own file",
        {"anthropic": "https://user"},
        {".claude.json": _settings("https://own"), USER: _settings("https://user")},
    ),
    Case(
        "project over user",
        {"anthropic": "https://project"},
        {USER: _settings("https://user"), PROJECT: _settings("https://project")},
    ),
    Case(
        "local over project",
        {"anthropic": "https://local"},
        {PROJECT: _settings("https://project"), LOCAL: _settings("https://local")},
    ),
    Case(
        "a flag over files",
        {"anthropic": "https://flag"},
        {LOCAL: _settings("https://local")},
        args=("--settings", _settings("https://flag"), "-p", "x"),
    ),
    Case(
        "the last flag, as a file",
        {"anthropic": "https://file"},
        {"flag.json": _settings("https://file")},
        args=("--settings", _settings("https://flag"), "--settings=HOME/flag.json"),
    ),
    Case(
        "a flag behind two dashes is a prompt",
        {"anthropic": "https://anthropic.default"},
        args=("-p", "--", "--settings", _settings("https://flag")),
    ),
    Case(
        "sources left out",
        {"anthropic": "https://user"},
        {USER: _settings("https://user"), PROJECT: _settings("https://project")},
        args=("--setting-sources", "user"),
    ),
    Case(
        "a moved folder",
        {"anthropic": "https://moved"},
        {"elsewhere/settings.json": _settings("https://moved"), USER: _settings("https://user")},
        {"CLAUDE_CONFIG_DIR": "HOME/elsewhere"},
    ),
    Case("a local server", {"anthropic": "http://127.0.0.1:8080"}, {USER: _settings("http://127.0.0.1:8080")}),
    Case(
        "a signed in account",
        {"anthropic": "https://anthropic.default"},
        {".claude/.credentials.json": '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-x"}}'},
    ),
    Case(
        "a switch that is off",
        {"anthropic": "https://anthropic.default"},
        environment={"CLAUDE_CODE_USE_BEDROCK": "0"},
    ),
    Case(
        "no sources of settings",
        {"anthropic": "https://anthropic.default"},
        {USER: _settings("https://user"), PROJECT: _settings("https://project")},
        args=("--setting-sources", "", "-p", "x"),
    ),
    Case(
        "a file that is ignored and names no address",
        {"anthropic": "https://env"},
        {USER: json.dumps({"model": 5})},
        {"ANTHROPIC_BASE_URL": "https://env"},
    ),
    Case(
        "a new worktree and the user's address",
        {"anthropic": "https://user"},
        {USER: _settings("https://user"), PROJECT: json.dumps({"model": "opus"})},
        args=("-w",),
    ),
]
REFUSED = [
    Refused("bedrock by environment", "Amazon Bedrock", environment={"CLAUDE_CODE_USE_BEDROCK": "1"}),
    Refused("vertex by settings", "Vertex", {USER: '{"env": {"CLAUDE_CODE_USE_VERTEX": "true"}}'}),
    Refused("foundry in a project", "Foundry", {PROJECT: '{"env": {"CLAUDE_CODE_USE_FOUNDRY": 1}}'}),
    Refused("a socket", "socket", environment={"ANTHROPIC_UNIX_SOCKET": "/run/x"}),
    Refused("managed settings", "Managed settings", {"managed/managed-settings.json": _settings("https://managed")}),
    Refused(
        "parts of managed settings", "Managed", {"managed/managed-settings.d/a.json": _settings("https://managed")}
    ),
    Refused("settings of an organisation", "Managed", {".claude/remote-settings.json": _settings("https://managed")}),
    Refused("a broken file", "is not JSON", {USER: '{"env": '}),
    Refused("no address", "is not an HTTP address", environment={"ANTHROPIC_BASE_URL": "company"}),
    Refused("a password in the address", "more than a host", environment={"ANTHROPIC_BASE_URL": "https://u:p@host"}),
    Refused("a file with comments", "ignores the whole file", {USER: "// ours\n" + _settings("https://user")}),
    Refused("a trailing comma", "ignores the whole file", {PROJECT: _settings("https://p")[:-1] + ",}"}),
    Refused(
        "a field of the wrong type",
        "wrong value for `permissions.allow`",
        {PROJECT: json.dumps({"env": {"HTTPS_PROXY": "http://proxy:1"}, "permissions": {"allow": "Bash"}})},
    ),
    Refused(
        "a mode that does not exist",
        "none of acceptEdits, auto",
        {PROJECT: json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://p"}, "permissions": {"defaultMode": "edit"}})},
    ),
    Refused(
        "hooks of the wrong form",
        "wrong value for `hooks`",
        {USER: json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://u"}, "hooks": {"Stop": [{"command": "x"}]}})},
    ),
    Refused("a flag with a mistake", "--settings is not JSON", args=("--settings", '{"env": {},}')),
    Refused(
        "a new worktree of a project with an address",
        "Create the worktree first",
        {PROJECT: _settings("https://project")},
        args=("--worktree", "w"),
    ),
    Refused("an agent in the background", "goes on when this run has ended", args=("--bg", "fix it")),
    Refused("agents in the background", "go on when this run has ended", args=("agents",)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_sends_its_requests(case: Case, tmp_path: Path) -> None:
    assert found(Claude(tmp_path / "managed"), situation(tmp_path, case)) == case.expected


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=case.reason):
        found(Claude(tmp_path / "managed"), situation(tmp_path, case))


def test_it_gets_an_address_and_a_server(tmp_path: Path) -> None:
    seen = situation(tmp_path, Case("", {}, environment={"ANTHROPIC_BASE_URL": "https://env/api"}, args=("-p", "hi")))
    client = Claude(tmp_path)
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, SERVER)
    assert made.variables == {"ANTHROPIC_BASE_URL": f"{GATEWAY}/anthropic/api"}
    program, server, *rest = made.words
    assert (program, rest, made.files) == ("claude", ["-p", "hi"], {})
    assert json.loads(server.removeprefix("--mcp-config="))["mcpServers"]["laconic"]["args"] == SERVER[1:]


@pytest.mark.parametrize(
    ("url", "chosen", "expected"),
    [
        ("", "", "true"),  # Anthropic's own host: on without us, so on with us
        ("", "false", ""),  # what the user says counts
        ("https://proxy.company", "", ""),  # off without us
    ],
)
def test_tool_search_is_as_it_would_be_without_us(tmp_path: Path, url: str, chosen: str, expected: str) -> None:
    given = {"ANTHROPIC_BASE_URL": url, "ENABLE_TOOL_SEARCH": chosen}
    case = Case("", {}, environment={name: value for name, value in given.items() if value})
    seen, client = situation(tmp_path, case), Claude(tmp_path)
    defaults = msgspec.structs.replace(DEFAULTS, anthropic="https://api.anthropic.com")
    made = client.launch(seen, client.find_upstreams(seen, defaults), GATEWAY, SERVER)
    assert made.variables.get("ENABLE_TOOL_SEARCH", "") == expected
    assert ("_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL" in made.variables) == (not url)
    (server,) = [word for word in made.words if word.startswith("--mcp-config=")]
    assert json.loads(server.removeprefix("--mcp-config="))["mcpServers"]["laconic"]["alwaysLoad"] is True


def test_an_address_in_its_settings_is_overridden_by_settings_that_keep_the_rest(tmp_path: Path) -> None:
    given = {"permissions": {"deny": ["WebFetch"]}, "env": {"ANTHROPIC_AUTH_TOKEN": "company-key"}}
    files = {USER: _settings("https://user/api"), "flag.json": json.dumps(given)}
    args = ("--model", "m", "--settings", "HOME/flag.json", "-p", "hi")
    seen, client = situation(tmp_path, Case("", {}, files, args=args)), Claude(tmp_path)
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, [])
    assert made.words == ("claude", "--settings", f"{FOLDER}/settings.json", "--model", "m", "-p", "hi")
    held = {"ANTHROPIC_AUTH_TOKEN": "company-key", "ANTHROPIC_BASE_URL": f"{GATEWAY}/anthropic/api"}
    assert json.loads(made.files["settings.json"]) == {**given, "env": held}


def test_without_a_gateway_only_the_server_is_added(tmp_path: Path) -> None:
    seen = situation(tmp_path, Case("", {}, args=("-p", "hi")))
    made = Claude(tmp_path).launch(seen, (), "", [])
    assert (made.words, made.variables) == (("claude", "-p", "hi"), {})


def test_a_first_prompt_waits_for_our_tools_beside_the_hooks_of_the_user(tmp_path: Path) -> None:
    given: dict[str, dict[str, list[object]]] = {"hooks": {"SessionStart": [{"hooks": []}], "Stop": [{"hooks": []}]}}
    seen = situation(tmp_path, Case("", {}, args=("--settings", json.dumps(given), "fix it")))
    made = Claude(tmp_path).launch(seen, (), "", SERVER)
    program, server, *rest = made.words
    assert (program, rest) == ("claude", ["--settings", f"{FOLDER}/settings.json", "fix it"])
    assert json.loads(server.removeprefix("--mcp-config="))["mcpServers"]["laconic"]["args"] == SERVER[1:]
    hooks = json.loads(made.files["settings.json"])["hooks"]
    assert hooks["Stop"] == given["hooks"]["Stop"]
    own, ours = hooks["SessionStart"]
    assert own == given["hooks"]["SessionStart"][0]
    assert ours["hooks"][0]["command"] == "python -m laconic hook --client $PPID || true"


def _proxies(tmp_path: Path, case: Case) -> OutboundProxies:
    client = Claude(tmp_path / "managed")
    return OutboundProxies.read(client.connection_variables(situation(tmp_path, case)), client.proxy_rules)


def _network(**variables: str) -> str:
    return json.dumps({"env": variables})


@pytest.mark.parametrize("file", [USER, LOCAL, "managed/managed-settings.json", ".claude.json"])
def test_the_proxy_in_its_settings_is_the_one_that_is_used(tmp_path: Path, file: str) -> None:
    case = Case("", {}, {file: _network(HTTPS_PROXY="http://settings:1", NO_PROXY="direct.example")})
    proxies = _proxies(tmp_path, case)
    assert proxies.find("https://api.example") == "http://settings:1"
    assert proxies.find("https://direct.example") is None


def test_the_way_to_the_gateway_is_kept_out_of_the_proxy_that_settings_name(tmp_path: Path) -> None:
    """They win over the environment: without this the proxy would see the key in plain text."""
    network = _network(HTTP_PROXY="http://proxy:1", no_proxy="company.example")
    seen, client = situation(tmp_path, Case("", {}, {USER: network})), Claude(tmp_path / "managed")
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, [])
    held = json.loads(made.files["settings.json"])["env"]
    assert held == dict.fromkeys(("NO_PROXY", "no_proxy"), "company.example,127.0.0.1")


def test_managed_settings_that_lead_the_way_to_the_gateway_through_a_proxy_are_refused(tmp_path: Path) -> None:
    network = _network(HTTP_PROXY="http://proxy:1", no_proxy="company.example")
    seen = situation(tmp_path, Case("", {}, {"managed/managed-settings.json": network}))
    client = Claude(tmp_path / "managed")
    with pytest.raises(Unroutable, match="managed settings of Claude Code, requests for this machine would go"):
        client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, [])
