"""An organisation's index on loopback: PostgreSQL, workers and a server as processes of their own."""

from __future__ import annotations

import hmac
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiohttp

from laconic.config import Settings, child_environment, load
from laconic.sessions.team.keys import TeamKey, TeamKeys
from laconic.sessions.team.repositories import Repositories, TeamRepository
from laconic.workspace.checkouts import normalise_origin
from laconic_benchmarks.postgres_server import PostgresServer, free_port
from laconic_benchmarks.team.forks import BenchRepository

SECRET: Final = "secret-of-the-webhooks"
_START: Final = 30.0  # seconds
_HEADERS: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class OrganisationCluster:
    """Use as `with`. Workers and the server run until the end, or until they are killed."""

    def __init__(self, *, workers: int = 2, poll: float = 0.0) -> None:
        self._stack = ExitStack()
        self._workers = workers
        self._poll = poll
        self.workers: list[subprocess.Popen[bytes]] = []
        self.base = ""

    def __enter__(self) -> OrganisationCluster:
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(TemporaryDirectory(prefix="laconic-organisation-")))
            database = stack.enter_context(PostgresServer(safe=True))
            self.settings = self._make_settings(database.new_database())
            self.keys = stack.enter_context(closing(TeamKeys.of(self.settings)))
            self.repositories = Repositories(self.keys.file)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _make_settings(self, store: str) -> Settings:
        self._flags = {
            "store": store,
            "cache_dir": str(self.folder / "cache"),
            "state_dir": str(self.folder / "state"),
            "team.folder": str(self.folder / "organisation"),
            "team.hook_secret": "env:BENCH_HOOK_SECRET",
            "team.poll": str(self._poll),
        }
        return load(flags=self._flags, environ={}, file=self.folder / "none.toml")

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What a process of this organisation needs."""
        found = {"BENCH_HOOK_SECRET": SECRET, "LACONIC_CONFIG": str(self.folder / "none.toml")}
        for name, value in self._flags.items():
            found["LACONIC_" + name.upper().replace(".", "_")] = value
        return child_environment({**found, **(more or {})})

    def register(self, repositories: Sequence[BenchRepository]) -> None:
        for repository in repositories:
            url = str(repository.path)
            self.repositories.add(repository.name, url, normalise_origin(url), "bench")

    def make_key(self, owner: str, *patterns: str) -> str:
        """A key that may read some repositories."""
        shown, _ = self.keys.create(TeamKey(id="", owner=owner), "bench")
        for pattern in patterns:
            self.repositories.grant(f"owner {owner}", pattern, "bench")
        return shown

    def start_workers(self) -> None:
        while len(self.workers) < self._workers:
            self.workers.append(self._start("--worker"))

    def kill_worker(self, number: int) -> None:
        """kill -9, and another one in its place."""
        self.workers[number].kill()
        self.workers[number].wait()
        self.workers[number] = self._start("--worker")

    def start_server(self) -> None:
        port = free_port()
        self.server = self._start("--listen", f"127.0.0.1:{port}")
        self.base = f"http://127.0.0.1:{port}"

    def wait_until_indexed(self, seconds: float) -> Sequence[TeamRepository]:
        """All repositories once each is published; those that are when the time is up."""
        until = time.monotonic() + seconds
        while True:
            known = self.repositories.list()
            if time.monotonic() > until or all(each.published for each in known):
                return known
            time.sleep(0.5)

    def _start(self, *flags: str) -> subprocess.Popen[bytes]:
        errors = (self.folder / "errors.log").open("ab")
        self._stack.callback(errors.close)
        process = subprocess.Popen(
            [sys.executable, "-m", "laconic", "serve", *flags],
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        self._stack.callback(_end, process)
        return process


class OrganisationClient:
    """Speaks to the server with one key."""

    def __init__(self, client: aiohttp.ClientSession, base: str, key: str) -> None:
        self._client = client
        self._base = base
        self._key = key

    async def ask(self, tool: str, **arguments: Any) -> str:
        """The text of an answer, or of a refusal."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {**_HEADERS, "authorization": f"Bearer {self._key}"}
        async with self._client.post(self._base + "/mcp", data=json.dumps(call), headers=headers) as answer:
            body = await answer.text()
        try:
            return str(json.loads(body)["result"]["content"][0]["text"])
        except (ValueError, KeyError, TypeError):
            return body

    async def report_push(self, repository: BenchRepository, secret: str = SECRET) -> int:
        """As GitHub does; the status of the answer."""
        body = json.dumps({"ref": "refs/heads/main", "repository": {"clone_url": str(repository.path)}}).encode()
        signature = hmac.new(secret.encode(), body, sha256).hexdigest()
        headers = {"x-github-event": "push", "x-hub-signature-256": f"sha256={signature}", **_HEADERS}
        async with self._client.post(f"{self._base}/hooks/github", data=body, headers=headers) as answer:
            return answer.status

    async def wait_until_ready(self) -> None:
        until = time.monotonic() + _START
        while time.monotonic() < until:
            try:
                async with self._client.get(self._base + "/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
