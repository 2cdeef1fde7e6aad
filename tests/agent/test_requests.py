"""What the agent sends: roles that alternate, addresses and keys as other programs read them, the folder at the start."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.agent.provider import Provider, following
from tests.agent.stage import agent_for, settings_in

from laconic.agent.agent_from_settings import AgentOptions
from laconic.agent.folder_summary import describe_workspace
from laconic.agent.model_endpoint import endpoint, transport
from laconic.agent.permission import everything
from laconic.agent.scripted_model import ModelScript
from laconic.errors import BadSetting, UsageError
from laconic.models.find_model import find_model
from laconic.wire.session_titles import choose_title

RULES = [
    {"when": ["^Look"], "calls": [{"name": "run", "arguments": {"command": "echo first"}}]},
    {"when": ["first"], "calls": [{"name": "run", "arguments": {"command": "echo second"}}]},
    {"when": ["second"], "say": "Done."},
]


def _requests(tmp_path: Path, format: str, **flags: object) -> list[dict[str, Any]]:
    """The bodies of a session of three turns, gone on with by a second task."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    rules = [*RULES, {"when": ["Thanks"], "say": "You are welcome."}]
    with Provider(following(msgspec.convert({"rules": rules}, ModelScript))) as provider:
        options = AgentOptions(root, "local/gemma", provider.url, format, ask=everything, protocol="native")
        agent = agent_for(options, settings_in(tmp_path, **flags), "Look around.")
        agent.work("Look around.")
        agent.work("Thanks.")
        agent.close()
        return [json.loads(asked.body) for asked in provider.asked]


def _roles(body: dict[str, Any]) -> list[str]:
    messages = body.get("messages") or body["contents"]
    return [str(message["role"]) for message in messages if message["role"] != "system"]


@pytest.mark.parametrize("format", ["anthropic", "gemini", "chat"])
def test_no_two_messages_in_a_row_are_of_the_user(tmp_path: Path, format: str) -> None:
    bodies = _requests(tmp_path, format)
    assert len(bodies) == 4
    for body in bodies:
        roles = _roles(body)
        pairs = list(pairwise(roles))
        assert ("user", "user") not in pairs, roles
        assert "[context " in json.dumps(body), "it still says how full it is"


@pytest.mark.parametrize("format", ["anthropic", "gemini", "chat"])
def test_the_temperature_is_a_setting(tmp_path: Path, format: str) -> None:
    for body in _requests(tmp_path, format, **{"agent.temperature": "0.2"}):
        assert body.get("temperature", body.get("generationConfig", {}).get("temperature")) == 0.2


def test_without_the_setting_the_model_has_its_own_temperature(tmp_path: Path) -> None:
    assert all("temperature" not in body for body in _requests(tmp_path, "anthropic"))
    (tmp_path / "again").mkdir()
    with pytest.raises(BadSetting, match=r"agent\.temperature"):
        _requests(tmp_path / "again", "anthropic", **{"agent.temperature": "hot"})


def test_the_first_message_shows_the_folder_and_no_later_one_does(tmp_path: Path) -> None:
    first, *_, last = _requests(tmp_path, "anthropic")
    assert "The folder has 1 file: a.py." in json.dumps(first["messages"][0])
    assert json.dumps(last).count("The folder has") == 1
    assert choose_title([first["messages"][0]["content"][0]["text"]]) == "Look around."


def test_the_listing_can_be_switched_off(tmp_path: Path) -> None:
    assert "The folder has" not in json.dumps(_requests(tmp_path, "chat", **{"agent.snapshot": False}))


def test_the_listing_names_branch_and_changes(tmp_path: Path) -> None:
    for words in (
        ["init", "-q", "-b", "topic"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "src").mkdir()
    for number in range(3):
        (tmp_path / "src" / f"{number}.py").write_text("")
    said = describe_workspace(tmp_path)
    assert "src/ (3)" in said
    assert "Git: topic, not committed: ?? src/." in said


def test_base_urls_are_read_as_other_programs_read_them(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/a", "OPENAI_BASE_URL": "http://127.0.0.1:2/v1"}
    assert endpoint("claude-sonnet-5-5", settings, environ=environ).url == "http://127.0.0.1:1/a/v1/messages"
    assert endpoint("gpt-5", settings, environ=environ).url == "http://127.0.0.1:2/v1/chat/completions"
    own = settings_in(tmp_path, **{"gateway.anthropic_url": "http://127.0.0.1:3"})
    assert endpoint("claude-sonnet-5-5", own, environ=environ).base == "http://127.0.0.1:3"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"),
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("gemini/gemini-3-pro", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_is_sent(tmp_path: Path, model: str, variable: str) -> None:
    where = endpoint(model, settings_in(tmp_path), environ={})
    with pytest.raises(UsageError, match=variable):
        transport(where, 1.0, environ={})
    headers = transport(where, 1.0, environ={variable: "secret"}).headers
    assert any("secret" in value for value in headers.values())


def test_a_token_is_sent_as_a_bearers_and_a_local_server_needs_no_key(tmp_path: Path) -> None:
    where = endpoint("claude-sonnet-5-5", settings_in(tmp_path), environ={})
    headers = transport(where, 1.0, environ={"ANTHROPIC_AUTH_TOKEN": "t"}).headers
    assert headers["authorization"] == "Bearer t"
    assert "x-api-key" not in headers
    local = endpoint("local/gemma", settings_in(tmp_path), "http://127.0.0.1:9", environ={})
    assert "authorization" not in transport(local, 1.0, environ={}).headers


def test_the_default_model_is_in_the_table_with_a_price(tmp_path: Path) -> None:
    facts = find_model(settings_in(tmp_path).text("agent.model"))
    assert facts.price.known
    assert facts.window
