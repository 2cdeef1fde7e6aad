"""How each real client is started, gone on with and taken back to an earlier point, by its own means."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
from tests.flows.stage import installed

Json = dict[str, Any]
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "NO_COLOR": "1",
}
_SECONDS = 300.0


def configure(folder: Path, base: str) -> None:
    """The files in which Codex and opencode find their provider; Claude Code finds it in the environment."""
    codex = folder / ".codex" / "config.toml"
    codex.parent.mkdir(exist_ok=True)
    codex.write_text(f'openai_base_url = "{base}/v1"\n', "utf-8")
    providers = {"provider": {"anthropic": {"options": {"baseURL": f"{base}/v1"}}}}
    (folder / "opencode.json").write_text(json.dumps(providers), "utf-8")


def environment(folder: Path, base: str) -> dict[str, str]:
    """A home of its own, all clients on the path, and `base` as every provider."""
    paths = [str(installed(package)) for package in PACKAGES.values()]
    return {
        "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
        "HOME": str(folder),
        "LACONIC_CACHE_DIR": str(folder / "laconic"),
        "LACONIC_STATE_DIR": str(folder / "laconic-state"),
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_BASE_URL": base,
        "OPENAI_API_KEY": "k",
        "CODEX_API_KEY": "k",
        **QUIET,
    }


class RealClient(ABC):
    """One client in one folder, with a gateway at `base`. Each prompt is a run of its own program."""

    name = ""

    def __init__(self, folder: Path, base: str) -> None:
        self.folder = folder
        self.base = base
        self.session = ""

    def command(self, args: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """The words and the variables that make the client use the gateway."""
        return [self.name, *args], {}

    @abstractmethod
    async def begin(self, prompt: str) -> str:
        """The first prompt of a new session; what the client printed."""

    @abstractmethod
    async def go_on(self, prompt: str) -> str:
        """One more prompt."""

    @abstractmethod
    async def take_back(self) -> None:
        """Forget all but the first prompt and what followed it."""

    async def run(self, *args: str) -> str:
        running = await self.started(*args)
        try:
            out, err = await asyncio.wait_for(running.communicate(), _SECONDS)
            return out.decode() + err.decode()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)  # and whatever it left running

    async def started(self, *args: str, stdin: int = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
        variables = environment(self.folder, self.base)
        words, more = self.command(args)
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=self.folder,
            env={**variables, **more},
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=2**24,
        )


class Claude(RealClient):
    """Resumes by the id of a session, and at the id of a message in it."""

    name = "claude"
    _flags: tuple[str, ...] = ("--allowedTools", "Bash", "--model", "claude-sonnet-4-5")
    _kept = ""  # the id of the last message that followed the first prompt

    async def begin(self, prompt: str) -> str:
        self.session = str(uuid4())
        said = await self.run("-p", prompt, "--session-id", self.session, *self._flags)
        (record,) = self.folder.rglob(f"{self.session}.jsonl")
        rows = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
        self._kept = next(row["uuid"] for row in reversed(rows) if row.get("type") == "assistant")
        return said

    async def go_on(self, prompt: str) -> str:
        return await self.run("-p", prompt, "--resume", self.session, *self._flags)

    async def take_back(self) -> None:
        self._flags = ("--resume-session-at", self._kept, *Claude._flags)


class Codex(RealClient):
    """Its app server forks a session behind any turn; the fork is resumed like any session."""

    name = "codex"
    _flags = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5")
    _plan = ("-c", "tools.update_plan={ enabled = true }")

    def command(self, args: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        table = f'name = "scripted", base_url = "{self.base}/v1", env_key = "OPENAI_API_KEY"'
        chosen = ["-c", f"model_providers.scripted={{ {table} }}", "-c", 'model_provider="scripted"']
        return ["codex", *chosen, *args], {}

    async def begin(self, prompt: str) -> str:
        said = await self.run("exec", *self._flags, *self._plan, prompt)
        found = re.search(r"session id: ([0-9a-f-]{36})", said)
        assert found, said[-2000:]
        self.session = found[1]
        return said

    async def go_on(self, prompt: str) -> str:
        return await self.run("exec", *self._flags, *self._plan, "resume", self.session, prompt)

    async def take_back(self) -> None:
        server = await self.started("app-server", stdin=asyncio.subprocess.PIPE)
        try:
            await _call(server, "initialize", {"clientInfo": {"name": "flows", "version": "1"}})
            turns = await _call(server, "thread/turns/list", {"threadId": self.session, "sortDirection": "asc"})
            fork = {"threadId": self.session, "lastTurnId": turns["data"][0]["id"]}
            self.session = (await _call(server, "thread/fork", fork))["thread"]["id"]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            await server.wait()


async def _call(server: asyncio.subprocess.Process, method: str, params: Json) -> Json:
    """One request over the standard streams; notifications on the way are not for us."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"id": method, "method": method, "params": params}).encode() + b"\n")
    async with asyncio.timeout(60):
        while True:
            said = json.loads(await server.stdout.readline())
            if said.get("id") == method:
                assert "result" in said, said
                result: Json = said["result"]
                return result


class Opencode(RealClient):
    """Its server takes a session back to before a message."""

    name = "opencode"
    _flags = ("--model", "anthropic/claude-sonnet-4-5")

    def command(self, args: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        config = {"provider": {"anthropic": {"options": {"baseURL": f"{self.base}/v1"}}}}
        return ["opencode", *args], {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}

    async def begin(self, prompt: str) -> str:
        said = await self.run("run", *self._flags, "--format", "json", prompt)
        found = re.search(r'"sessionID":"(ses_\w+)"', said)
        assert found, said[-2000:]
        self.session = found[1]
        return said

    async def go_on(self, prompt: str) -> str:
        return await self.run("run", *self._flags, "--session", self.session, prompt)

    async def take_back(self) -> None:
        server = await self.started("serve", "--port", "0")
        try:
            assert server.stdout is not None
            async with asyncio.timeout(60):
                while not (found := re.search(rb"http://[\w.:]+", await server.stdout.readline())):
                    pass
            url = f"{found[0].decode()}/session/{self.session}"
            query = {"directory": str(self.folder)}
            async with aiohttp.ClientSession(raise_for_status=True) as client:
                async with client.get(f"{url}/message", params=query) as answer:
                    users = [row["info"] for row in await answer.json() if row["info"]["role"] == "user"]
                async with client.post(f"{url}/revert", params=query, json={"messageID": users[1]["id"]}):
                    pass
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            await server.wait()


CLIENTS: dict[str, type[RealClient]] = {"claude": Claude, "codex": Codex, "opencode": Opencode}
