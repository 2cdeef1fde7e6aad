"""aider's providers keep their addresses, wherever its files, its variables and its options name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clients.stage import DEFAULTS, GATEWAY, Case, Refused, found, situation

from laconic.clients.aider import Aider
from laconic.clients.any_program import Program
from laconic.errors import Unroutable
from laconic.outbound_proxies import OutboundProxies

OWN = {
    "openai": "https://openai.default/v1",
    "anthropic": "https://anthropic.default",
    "gemini": "https://g.default/v1beta",
    "openrouter": "https://openrouter.ai/api/v1",
    "deepseek": "https://api.deepseek.com/beta",
    "ollama": "http://localhost:11434",
}
CONFIG = "project/.aider.conf.yml"


def _openai(url: str) -> dict[str, str]:
    return {**OWN, "openai": url}


CASES = [
    Case("nothing configured", OWN),
    Case("an option", _openai("https://o/v1"), args=("--openai-api-base", "https://o/v1", "--model", "openai/m")),
    Case("a variable", _openai("https://v/v1"), environment={"OPENAI_API_BASE": "https://v/v1"}),
    Case(
        "a variable of the library first",
        _openai("https://l/v1"),
        environment={"OPENAI_API_BASE": "https://v/v1", "OPENAI_BASE_URL": "https://l/v1"},
    ),
    Case("its own variable", _openai("https://a/v1"), environment={"AIDER_OPENAI_API_BASE": "https://a/v1"}),
    Case(
        "a file over the environment",
        _openai("https://f/v1"),
        {"project/.env": "OPENAI_API_BASE=https://f/v1 # ours\n"},
        {"OPENAI_API_BASE": "https://v/v1"},
    ),
    Case(
        "the project's file over the user's",
        _openai("https://p/v1"),
        {".env": "OPENAI_API_BASE=https://u/v1\n", "project/.env": 'OPENAI_API_BASE="https://p/v1"\n'},
    ),
    Case(
        "a file that is named",
        _openai("https://n/v1"),
        {"n.env": "OPENAI_API_BASE=https://n/v1\n", "project/.env": "OPENAI_API_BASE=https://p/v1\n"},
        args=("--env-file", "HOME/n.env"),
    ),
    Case(
        "the configuration",
        _openai("https://c/v1"),
        {CONFIG: "# ours\nopenai-api-base: https://c/v1\nmodel: openai/m\n"},
    ),
    Case(
        "the project's configuration over the user's",
        _openai("https://c/v1"),
        {".aider.conf.yml": "openai-api-base: https://u/v1\n", CONFIG: "openai-api-base: 'https://c/v1'\n"},
    ),
    Case(
        "a configuration that is named",
        _openai("https://n/v1"),
        {"n.yml": "openai-api-base: https://n/v1\n", CONFIG: "openai-api-base: https://c/v1\n"},
        args=("--config", "HOME/n.yml"),
    ),
    Case(
        "variables in the configuration",
        {**OWN, "anthropic": "https://c"},
        {CONFIG: "set-env:\n  - ANTHROPIC_API_BASE=https://c\n"},
    ),
    Case(
        "variables on the command line",
        {**OWN, "ollama": "http://box:1"},
        {CONFIG: "set-env: [OLLAMA_API_BASE=http://c]\n"},
        args=("--set-env", "OLLAMA_API_BASE=http://box:1"),
    ),
    Case("Anthropic's variable", {**OWN, "anthropic": "https://p"}, environment={"ANTHROPIC_BASE_URL": "https://p"}),
    Case(
        "a file that the configuration names",
        _openai("https://n/v1"),
        {"project/n.env": "OPENAI_API_BASE=https://n/v1\n", CONFIG: "env-file: n.env\n"},
    ),
    Case("a local model", OWN, args=("--model", "ollama_chat/qwen")),
    Case(
        "a file of another repository that is only read",
        OWN,
        {"other/.git/HEAD": "", "other/a.py": "", "project/b.py": ""},
        args=("--read", "../other/a.py", "b.py"),
    ),
]
REFUSED = [
    Refused("a model on bedrock", "bedrock/x", args=("--model", "bedrock/x")),
    Refused("a model of the configuration", "azure/x", {CONFIG: "model: azure/x\n"}),
    Refused("a second model", "groq/x", args=("--weak-model=groq/x",)),
    Refused(
        "a file of another repository",
        "belongs to another repository",
        {"other/.git/HEAD": "", "other/a.py": "", "other/.aider.conf.yml": "openai-api-base: https://other"},
        args=("--model", "gpt-4o", "../other/a.py"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_sends_its_requests(case: Case, tmp_path: Path) -> None:
    assert found(Aider(), situation(tmp_path, case)) == case.expected


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(Unroutable, match=case.reason):
        found(Aider(), situation(tmp_path, case))


def test_addresses_stand_behind_its_files_and_its_own_variables_stay(tmp_path: Path) -> None:
    case = Case("", {}, {CONFIG: "set-env: [A=1, OPENAI_API_BASE=https://c/v1]\n"}, args=("--message", "hi"))
    seen, client = situation(tmp_path, case), Aider()
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, [])
    settings = [made.words[at + 1] for at, word in enumerate(made.words) if word == "--set-env"]
    assert settings[:3] == ["A=1", "OPENAI_API_BASE=https://c/v1", f"OPENAI_BASE_URL={GATEWAY}/openai/v1"]
    assert f"ANTHROPIC_API_BASE={GATEWAY}/anthropic" in settings
    assert made.words[:3] == ("aider", "--message", "hi")


def test_the_proxy_of_its_file_is_used_and_kept_off_the_way_to_the_gateway(tmp_path: Path) -> None:
    network = "HTTPS_PROXY=http://proxy:1\nHTTP_PROXY=http://proxy:1\nNO_PROXY=direct.example\n"
    seen, client = situation(tmp_path, Case("", {}, {"project/.env": network})), Aider()
    proxies = OutboundProxies.read(client.connection_variables(seen), client.proxy_rules)
    assert proxies.find("https://api.example") == "http://proxy:1"
    assert proxies.find("https://direct.example") is None
    made = client.launch(seen, client.find_upstreams(seen, DEFAULTS), GATEWAY, [])
    assert "NO_PROXY=direct.example,127.0.0.1" in made.words


PROGRAMS = [
    Case(
        "a program with nothing",
        {
            "openai": "https://openai.default/v1",
            "anthropic": "https://anthropic.default",
            "gemini": "https://g.default",
        },
    ),
    Case(
        "a program with addresses",
        {"openai": "http://127.0.0.1:11434/v1", "anthropic": "https://p/a", "gemini": "https://p/g"},
        environment={
            "OPENAI_API_BASE": "http://127.0.0.1:11434/v1",
            "ANTHROPIC_BASE_URL": "https://p/a",
            "GOOGLE_GEMINI_BASE_URL": "https://p/g",
        },
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_where_any_program_sends_its_requests(case: Case, tmp_path: Path) -> None:
    assert found(Program(), situation(tmp_path, case)) == case.expected


def test_any_program_gets_addresses_by_variables(tmp_path: Path) -> None:
    seen = situation(tmp_path, Case("", {}, environment={"ANTHROPIC_BASE_URL": "https://p/a"}, args=("agent", "-x")))
    made = Program().launch(seen, Program().find_upstreams(seen, DEFAULTS), GATEWAY, [])
    assert made.words == ("agent", "-x")
    assert made.variables == {
        "OPENAI_BASE_URL": f"{GATEWAY}/openai/v1",
        "OPENAI_API_BASE": f"{GATEWAY}/openai/v1",
        "ANTHROPIC_BASE_URL": f"{GATEWAY}/anthropic/a",
        "GOOGLE_GEMINI_BASE_URL": f"{GATEWAY}/gemini",
    }
