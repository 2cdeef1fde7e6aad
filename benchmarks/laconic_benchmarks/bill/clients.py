"""The clients of the benchmark: how each is installed, configured for a provider on loopback, and run once."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from laconic.config import child_environment
from laconic.workspace.lock import hold_lock

PROMPT: Final = "Work through the files."
BASE: Final = "{base}"  # stands in files and variables for where the provider listens
_QUIET: Final = {
    "TERM": "dumb",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
}


class BilledClient(msgspec.Struct, frozen=True):
    """One client. Files are named from the home folder; the project is the folder `project` in it."""

    name: str
    package: str
    version: str
    model: str
    first: tuple[str, ...]  # words of a first prompt
    again: tuple[str, ...]  # words that go on with that session
    files: Mapping[str, str] = {}
    variables: Mapping[str, str] = {}

    def prepare(self, home: Path, base: str) -> dict[str, str]:
        """Write its configuration; returns its variables."""
        for name, text in self.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text.replace(BASE, base), "utf-8")
        found = {name: value.replace(BASE, base) for name, value in self.variables.items()}
        return {
            **_QUIET,
            **found,
            "HOME": str(home),
            "LACONIC_CACHE_DIR": str(home / "cache"),
            "LACONIC_STATE_DIR": str(home / "state"),
        }


_CLAUDE: Final = ("--model", "claude-sonnet-4-5", "--allowedTools", "Bash")
_CLAUDE_46: Final = ("--model", "claude-sonnet-4-6", "--allowedTools", "Bash")
_CODEX: Final = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5")
_OPENCODE: Final = ("--model", "anthropic/claude-sonnet-4-5")
_GEMINI: Final = ("--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-pro")
_LATER: Final = 4_102_444_800  # when a login ends


def _write_login() -> str:
    """A login with a ChatGPT account as Codex keeps it; nobody checks the signature."""
    about = {"chatgpt_account_id": "account", "chatgpt_plan_type": "pro", "chatgpt_user_id": "user"}
    parts = []
    for part in ({"alg": "none"}, {"exp": _LATER, "https://api.openai.com/auth": about, "email": "a@b.example"}):
        parts.append(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("="))
    token = ".".join((*parts, "x"))
    tokens = {"id_token": token, "access_token": token, "refresh_token": "x", "account_id": "account"}
    return json.dumps({"auth_mode": "chatgpt", "tokens": tokens, "last_refresh": "2100-01-01T00:00:00Z"})


_OPENCODE_FILE: Final = """{
  "provider": {"anthropic": {"options": {"baseURL": "{base}/v1", "apiKey": "k"}}},
  "permission": {"bash": "allow"}
}
"""

CLIENTS: Final = (
    BilledClient(
        name="claude",
        package="@anthropic-ai/claude-code",
        version="2.1.197",
        model="claude-sonnet-4-5",
        first=("claude", "-p", PROMPT, *_CLAUDE),
        again=("claude", "-p", PROMPT, "--continue", *_CLAUDE),
        variables={"ANTHROPIC_BASE_URL": BASE, "ANTHROPIC_API_KEY": "k"},
    ),
    BilledClient(
        name="codex",
        package="@openai/codex",
        version="0.166.0",
        model="gpt-5",
        first=("codex", "exec", *_CODEX, PROMPT),
        again=("codex", "exec", *_CODEX, "resume", "--last", PROMPT),
        files={".codex/config.toml": 'openai_base_url = "{base}/v1"\n'},
        variables={"CODEX_API_KEY": "k"},
    ),
    BilledClient(
        name="opencode",
        package="opencode-ai",
        version="1.18.33",
        model="claude-sonnet-4-5",
        first=("opencode", "run", *_OPENCODE, PROMPT),
        again=("opencode", "run", "--continue", *_OPENCODE, PROMPT),
        files={"project/opencode.json": _OPENCODE_FILE},
        variables={"ANTHROPIC_API_KEY": "k"},
    ),
    BilledClient(
        name="gemini",
        package="@google/gemini-cli",
        version="0.61.0",
        model="gemini-2.5-pro",
        first=("gemini", *_GEMINI, "-p", PROMPT),
        again=("gemini", *_GEMINI, "--resume", "latest", "-p", PROMPT),
        files={".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
        variables={"GOOGLE_GEMINI_BASE_URL": BASE, "GEMINI_API_KEY": "k"},
    ),
)

# For the scenario that is about it. Gemini CLI compacts its history at half a million tokens only.
COMPACTING: Final = (
    *CLIENTS[:3],
    msgspec.structs.replace(
        CLIENTS[0],
        name="claude, 4.6",  # with these models it compacts before the window is full
        model="claude-sonnet-4-6",
        first=("claude", "-p", PROMPT, *_CLAUDE_46),
        again=("claude", "-p", PROMPT, "--continue", *_CLAUDE_46),
    ),
    msgspec.structs.replace(
        CLIENTS[1],
        name="codex, account",  # the provider compacts its history
        files={**CLIENTS[1].files, ".codex/auth.json": _write_login()},
        variables={},
    ),
)


def install_client(client: BilledClient, folder: Path) -> str:
    """The search path with the client's program and ours in front; it is installed once."""
    name = f"{client.package.strip('@').replace('/', '-')}-{client.version}"
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    with hold_lock(place / "lock", seconds=600):
        if not (place / "installed").exists():
            npm = shutil.which("npm")
            if npm is None:
                raise FileNotFoundError(2, "npm is needed", "npm")
            (place / "package.json").write_text('{"private": true}', "utf-8")
            wanted = f"{client.package}@{client.version}"
            command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", wanted]
            subprocess.run(command, cwd=place, check=True, timeout=600)
            (place / "installed").write_text("", "utf-8")
    programs = (place / "node_modules" / ".bin", Path(sys.executable).parent, child_environment().get("PATH", ""))
    return os.pathsep.join(map(str, programs))
