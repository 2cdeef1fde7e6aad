"""Real clients with a company's proxy in their own configuration: requests and keys reach it, and nothing else.

In the place of every default host there is a canary. The only other way out is a proxy that is not there.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.clients.stage import Case, found, situation
from tests.clients.test_opencode import CASES as OPENCODE_CASES
from tests.flows.clients import PACKAGES, QUIET
from tests.flows.scripts import DONE, model
from tests.flows.stage import installed, installed_python

from laconic.clients.opencode import Opencode
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.workspace.process import run as process

pytestmark = pytest.mark.flow

KEY = "company-key-31337"
AIDER = ("aider-chat", "0.86.2")
CODEX = f"""model_provider = "company"
[model_providers.company]
name = "Company"
base_url = "PROXY/codex/v1"
env_key = "COMPANY_KEY"
http_headers = {{ x-team = "{KEY}" }}
query_params = {{ api-version = "7" }}
"""
PROVIDER = {"options": {"baseURL": "PROXY/oc/v1", "apiKey": "{env:COMPANY_KEY}"}}
COMPATIBLE = {**PROVIDER, "npm": "@ai-sdk/openai-compatible", "models": {"m": {"tool_call": True}}}
GEMINI_KEY = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
SCRIPT = """
import json, os, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
headers = {"authorization": "Bearer " + os.environ["COMPANY_KEY"], "content-type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
print(urllib.request.urlopen(request, timeout=30).read().decode())
"""


@dataclass(frozen=True)
class Run:
    """A client with its configuration; PROXY stands for the company's address."""

    says: str
    words: tuple[str, ...]
    path: str  # where the company's proxy is asked
    files: Mapping[str, str] = field(default_factory=dict)  # by path in the home folder
    variables: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.says.replace(" ", "-")


def _claude(url: str, **more: str) -> str:
    return json.dumps({"env": {"ANTHROPIC_BASE_URL": url, **more}})


CLAUDE = ("claude", "-p", "hi", "--model", "claude-sonnet-4-5")
EXEC = ("codex", "exec", "--skip-git-repo-check", "hi")
MESSAGES = "/team/v1/messages"
RUNS = [
    Run(
        "claude by environment", CLAUDE, MESSAGES, {}, {"ANTHROPIC_BASE_URL": "PROXY/team", "ANTHROPIC_API_KEY": KEY}
    ),
    Run(
        "claude by user settings",
        CLAUDE,
        MESSAGES,
        {".claude/settings.json": _claude("PROXY/team", ANTHROPIC_AUTH_TOKEN=KEY)},
    ),
    Run(
        "claude by project settings with a helper for keys",
        CLAUDE,
        MESSAGES,
        {
            "project/.claude/settings.json": _claude("PROXY/team"),
            ".claude/settings.json": json.dumps({"apiKeyHelper": f"echo {KEY}"}),
        },
    ),
    Run(
        "claude by flag",
        (*CLAUDE, "--settings", _claude("PROXY/team", ANTHROPIC_API_KEY=KEY)),
        MESSAGES,
        {".claude/settings.json": _claude("http://127.0.0.1:9")},
    ),
    Run("codex with a provider", EXEC, "/codex/v1/responses?api-version=7", {".codex/config.toml": CODEX}),
    Run(
        "codex with a profile",
        ("codex", "exec", "--skip-git-repo-check", "-p", "work", "hi"),
        "/codex/v1/responses?api-version=7",
        {".codex/work.config.toml": CODEX},
    ),
    Run(
        "codex with another address for OpenAI",
        EXEC,
        "/o/v1/responses",
        {
            ".codex/config.toml": 'openai_base_url = "PROXY/o/v1"\n',
            ".codex/auth.json": f'{{"OPENAI_API_KEY": "{KEY}"}}',
        },
    ),
    Run(
        "codex by command line",
        ("codex", "exec", "--skip-git-repo-check", "-c", 'openai_base_url="PROXY/o/v1"', "hi"),
        "/o/v1/responses",
        {},
        {"CODEX_API_KEY": KEY},
    ),
    Run(
        "opencode with a provider in the project",
        ("opencode", "run", "-m", "company/m", "hi"),
        "/oc/v1/chat/completions",
        {"project/opencode.json": json.dumps({"provider": {"company": COMPATIBLE}})},
    ),
    Run(
        "opencode with a known provider in the user's file",
        ("opencode", "run", "-m", "anthropic/claude-sonnet-4-5", "hi"),
        "/oc/v1/messages",
        {".config/opencode/opencode.jsonc": "// ours\n" + json.dumps({"provider": {"anthropic": PROVIDER}})},
        {"OPENAI_API_KEY": "another-key"},
    ),
    Run(
        "gemini",
        ("gemini", "--skip-trust", "-p", "hi", "-m", "gemini-2.5-flash"),
        "/g/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        {".gemini/settings.json": GEMINI_KEY},
        {"GOOGLE_GEMINI_BASE_URL": "PROXY/g", "GEMINI_API_KEY": KEY},
    ),
    Run(
        "aider by file",
        ("aider", "--model", "openai/m", "--message", "hi", "--no-git", "--yes-always", "--no-show-model-warnings"),
        "/a/v1/chat/completions",
        {"project/.env": f"OPENAI_API_BASE=PROXY/a/v1\nOPENAI_API_KEY={KEY}\n"},
        {"OPENAI_API_BASE": "http://127.0.0.1:9/v1", "AIDER_ANALYTICS_DISABLE": "1", "AIDER_CHECK_UPDATE": "false"},
    ),
    Run(
        "any program",
        ("--", sys.executable, "-c", SCRIPT),
        "/any/v1/chat/completions",
        {},
        {"OPENAI_BASE_URL": "PROXY/any/v1"},
    ),
]


class Played:
    """One run, with a company's proxy and a canary on loopback."""

    def __init__(self, run: Run, home: Path, *flags: str) -> None:
        self.company: list[ReceivedRequest] = []
        self.canary: list[ReceivedRequest] = []
        self.said = ""
        asyncio.run(self._play(run, home, flags))

    async def _play(self, run: Run, home: Path, flags: tuple[str, ...]) -> None:
        async with ScriptedUpstream(lambda asked: model((), asked)) as company, ScriptedUpstream(_alarm) as canary:
            project = home / "project"
            (project / ".git").mkdir(parents=True)
            for name, text in run.files.items():
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(text.replace("PROXY", company.url), "utf-8")
            variables = {name: value.replace("PROXY", company.url) for name, value in run.variables.items()}
            words = [word.replace("PROXY", company.url) for word in run.words]
            running = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "laconic", "wrap", *flags, *words),
                cwd=project,
                env={**_environment(home, run.words[0]), **_canaries(canary.url), **variables},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            out, _ = await asyncio.wait_for(running.communicate(), 240)
            self.said, self.company, self.canary = out.decode(), company.asked, canary.asked


def _alarm(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b"canary",), 500)


def _canaries(url: str) -> dict[str, str]:
    return {f"LACONIC_GATEWAY_{name}_URL": url for name in ("ANTHROPIC", "OPENAI", "GEMINI")}


def _environment(home: Path, client: str) -> dict[str, str]:
    if client in PACKAGES:
        paths = [str(installed(PACKAGES[client]))]
    else:
        paths = [str(installed_python(*AIDER))] if client == "aider" else []
    return {
        "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
        "HOME": str(home),
        "TERM": "dumb",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "COMPANY_KEY": KEY,
        "LACONIC_CACHE_DIR": str(home / "laconic"),
        "LACONIC_STATE_DIR": str(home / "laconic-state"),
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        **QUIET,
    }


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_requests_and_keys_reach_the_configured_host_and_no_other(run: Run, tmp_path: Path) -> None:
    played = Played(run, tmp_path)
    assert DONE in played.said, played.said[-3000:]
    asked = [one for one in played.company if one.method == "POST"]
    paths = {one.path.replace("?beta=true", "") for one in asked}
    assert run.path in paths, paths
    assert all(KEY in json.dumps(one.headers) for one in asked)
    assert played.canary == []
    assert "prompt tokens" in played.said


@pytest.mark.parametrize("run", [run for run in RUNS if run.says in {"codex with a provider", "gemini"}], ids=str)
def test_a_client_that_cannot_be_led_is_not_started(run: Run, tmp_path: Path) -> None:
    elsewhere = {
        ".codex/config.toml": 'model_provider = "amazon-bedrock"\n',
        ".gemini/settings.json": '{"security": {"auth": {"selectedType": "oauth-personal"}}}',
    }
    changed = Run(run.says, run.words, run.path, elsewhere, run.variables)
    played = Played(changed, tmp_path)
    assert "--no-gateway" in played.said or "without Laconic" in played.said  # Gemini CLI has no code plane to keep
    assert (played.company, played.canary) == ([], [])


COMPLETED = {"https://api.anthropic.com/v1"}  # by opencode's package, not by its configuration
WITH_ADDRESSES = [
    case
    for case in OPENCODE_CASES
    if any("baseURL" in text for text in case.files.values()) and not COMPLETED & set(case.expected.values())
]


@pytest.mark.parametrize("case", WITH_ADDRESSES, ids=str)
def test_opencode_itself_reads_the_addresses_that_we_read(case: Case, tmp_path: Path) -> None:
    seen = situation(tmp_path, case)
    folder = seen.folder
    if "../other" in case.args:  # `debug config` cannot be told to work in another folder
        folder = seen.folder / "../other"
    finished = process(
        [str(installed(PACKAGES["opencode"]) / "opencode"), "debug", "config"],
        folder,
        environment={**_environment(tmp_path, "opencode"), **seen.environment},
        seconds=60,
    )
    assert finished.code == 0, finished.complaints.decode()
    providers = json.loads(finished.output)["provider"]
    ours = {id: url for id, url in found(Opencode(), seen).items() if id in providers}
    assert ours == {id: providers[id]["options"]["baseURL"] for id in ours}
    assert ours or "disabled_providers" in json.loads(finished.output)
