"""Claimed savings against true ones: real clients, wrapped and plain, against a provider that bills like Anthropic's.

Both runs of a scenario are really made. The provider counts every prompt and keeps a prompt cache of its own; what it
billed is the truth. The claim is what `laconic stats` says of the wrapped run. Needs npm, which installs the clients
into the cache folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from laconic.config import child_environment
from laconic.gateway.scripted_upstream import Answer, Asked, ScriptedUpstream, streamed
from laconic.models.find import find_model
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.report import Options, Report, at_most

_MODEL: Final = "claude-sonnet-4-5"
_PACKAGES: Final = {"claude": "@anthropic-ai/claude-code@2.1.197", "opencode": "opencode-ai@1.18.33"}
_COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "claude": ("claude", "-p", "Work through the files.", "--model", _MODEL, "--allowedTools", "Bash"),
    "opencode": ("opencode", "run", "--model", f"anthropic/{_MODEL}", "Work through the files."),
}
_SECONDS: Final = 280


class Scenario(msgspec.Struct, frozen=True):
    """Files that are shown one after the other, each by a command."""

    name: str
    files: tuple[str, ...]


def run(options: Options) -> Report:
    """All scenarios with all clients; with words, those clients only."""
    bins = [_install(package, Path(options.cache).parent / "clients") for package in _PACKAGES.values()]
    path = os.pathsep.join([*map(str, bins), str(Path(sys.executable).parent), child_environment().get("PATH", "")])
    chosen = SCENARIOS[:2] if options.quick else SCENARIOS
    rows = []
    for client in options.args or _COMMANDS:
        for scenario in chosen:
            options.progress(f"{client}: {scenario.name}")
            plain = _run(client, scenario, path, wrapped=False)
            wrapped = _run(client, scenario, path, wrapped=True)
            rows.append(_row(client, scenario, plain, wrapped))
    errors = [abs(float(row["claimed"] or 0) - float(row["true"] or 0)) for row in rows]
    above = [float(row["claimed"] or 0) - float(row["true"] or 0) for row in rows]
    return Report(
        "bill",
        f"{len(rows)} pairs of runs",
        counter(_MODEL).name,
        tuple(rows),
        (
            at_most("points between the claimed and the true saving, at most", 100 * max(errors), 3),
            at_most("points by which a claim is above the truth, at most", 100 * max(above), 1),
        ),
    )


class BillingProvider:
    """Counts prompts and keeps every prefix that it has seen: a cache that never runs cold."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._count = counter(_MODEL)
        self._price = find_model(_MODEL).price
        self._seen: set[bytes] = set()
        self._answers = 0
        self.tokens = 0
        self.dollars = 0.0

    def __call__(self, asked: Asked) -> Answer:
        if "/messages" not in asked.path or asked.method != "POST" or "count_tokens" in asked.path:
            return Answer((b'{"data": []}',))
        body = json.loads(asked.body)
        usage = self._bill(body)
        self._answers += 1
        return _speak(self._next_call(body), usage, f"msg_{self._answers:04}")

    def _bill(self, body: dict[str, Any]) -> dict[str, int]:
        digest, read, tokens = blake2b(digest_size=16), 0, 0
        marks = []
        for piece in _pieces(body):
            digest.update(piece.encode("utf-8", "surrogatepass"))
            tokens += self._count(piece)
            marks.append(digest.digest())
            if marks[-1] in self._seen:
                read = tokens
        self._seen.update(marks)
        self.tokens += tokens
        self.dollars += self._price.prompt_dollars(plain=0, read=read, write=tokens - read, hour=0)
        self.dollars += self._price.output_dollars(_OUTPUT, tokens)
        return {
            "input_tokens": 0,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": tokens - read,
            "output_tokens": _OUTPUT,
        }

    def _next_call(self, body: dict[str, Any]) -> dict[str, Any] | None:
        names = [tool["name"] for tool in body.get("tools", ()) if tool.get("name") in {"Bash", "bash"}]
        results = json.dumps(body.get("messages", ())).count('"tool_result"')
        if not names or results >= len(self._scenario.files):
            return None
        command = {"command": f"cat file_{results}.txt", "description": "show a file"}
        return {"type": "tool_use", "id": f"toolu_{results:04}", "name": names[0], "input": command}


_OUTPUT: Final = 40


def _pieces(body: dict[str, Any]) -> list[str]:
    """What a prompt is made of, in the provider's order, without marks of the cache."""
    found = [_plain(tool) for tool in body.get("tools", ())]
    system = body.get("system") or ()
    found += [system] if isinstance(system, str) else [_plain(block) for block in system]
    for message in body.get("messages", ()):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [f"{message['role']}:{_plain(block)}" for block in blocks]
    return found


def _plain(block: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, ensure_ascii=False)


def _speak(call: dict[str, Any] | None, usage: dict[str, int], name: str) -> Answer:
    start: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "All files were shown."}
    if call is not None:
        start = {**call, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}
    message = {"id": name, "type": "message", "role": "assistant", "model": _MODEL, "content": [], "usage": usage}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": _OUTPUT}},
        {"type": "message_stop"},
    ]
    return streamed([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


class RunResult(msgspec.Struct, frozen=True):
    """What the provider billed, and what share of it we say was saved."""

    tokens: int
    dollars: float
    claimed: float


def _run(client: str, scenario: Scenario, path: str, *, wrapped: bool) -> RunResult:
    return asyncio.run(_run_once(client, scenario, path, wrapped))


async def _run_once(client: str, scenario: Scenario, path: str, wrapped: bool) -> RunResult:
    provider = BillingProvider(scenario)
    async with ScriptedUpstream(provider) as upstream:
        with TemporaryDirectory(prefix="laconic-bill-") as folder:
            project = Path(folder) / "project"
            project.mkdir()
            for number, text in enumerate(scenario.files):
                (project / f"file_{number}.txt").write_text(text, "utf-8")
            options = {"options": {"baseURL": f"{upstream.url}/v1", "apiKey": "k"}}
            held = {"provider": {"anthropic": options}, "permission": {"bash": "allow"}}
            (project / "opencode.json").write_text(json.dumps(held), "utf-8")
            environment = _environment(Path(folder), upstream.url, path)
            words = list(_COMMANDS[client])
            if wrapped:
                words = [sys.executable, "-m", "laconic", "wrap", *words]
            running = await asyncio.create_subprocess_exec(
                *words,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                await asyncio.wait_for(running.wait(), _SECONDS)
            except TimeoutError:
                running.kill()
                await running.wait()
            claimed = await _claimed_saving(project, environment) if wrapped else 0.0
    return RunResult(provider.tokens, provider.dollars, claimed)


async def _claimed_saving(project: Path, environment: dict[str, str]) -> float:
    """By the record of the run, which the last line of `wrap` rounds to cents."""
    words = [sys.executable, "-m", "laconic", "stats", "--json"]
    asked = await asyncio.create_subprocess_exec(*words, cwd=project, env=environment, stdout=subprocess.PIPE)
    out, _ = await asked.communicate()
    models = json.loads(out)["models"]
    whole = sum(model["dollars_whole"] for model in models)
    return 1 - sum(model["dollars"] for model in models) / whole if whole else 0.0


def _environment(home: Path, base: str, path: str) -> dict[str, str]:
    return {
        "PATH": path,
        "HOME": str(home),
        "TERM": "dumb",
        "LACONIC_CACHE_DIR": str(home / "cache"),
        "LACONIC_STATE_DIR": str(home / "state"),
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "k",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _row(client: str, scenario: Scenario, plain: RunResult, wrapped: RunResult) -> dict[str, Cell]:
    return {
        "client": client,
        "scenario": scenario.name,
        "plain tokens": plain.tokens,
        "wrapped tokens": wrapped.tokens,
        "plain $": plain.dollars,
        "wrapped $": wrapped.dollars,
        "true": 1 - wrapped.dollars / plain.dollars if plain.dollars else 0.0,
        "claimed": wrapped.claimed,
    }


def _install(package: str, folder: Path) -> Path:
    """The folder with the client's program; installed once."""
    place = folder / package.strip("@").replace("/", "-").replace("@", "-")
    if not (place / "node_modules" / ".bin").is_dir():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError(2, "npm is needed", "npm")
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}', "utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", package]
        subprocess.run(command, cwd=place, check=True, timeout=600)
    return place / "node_modules" / ".bin"


def _log(number: int, lines: int) -> str:
    rows = [
        f"2026-01-01 12:{n % 60:02}:00 INFO worker {n % 7} handled request {number}-{n} in {n % 90} ms"
        for n in range(lines)
    ]
    return "\n".join([*rows, f"2026-01-01 13:00:00 ERROR request {number} failed: disk full"])


def _code(number: int, functions: int) -> str:
    bodies = [
        f"def step_{number}_{n}(value):\n    total = value + {n}\n    return total * {number}\n"
        for n in range(functions)
    ]
    return "\n".join(bodies)


SCENARIOS: Final = (
    Scenario("short", tuple(_code(n, 4) for n in range(5))),
    Scenario("long logs", tuple(_log(n, 350) for n in range(10))),
    Scenario("many files", tuple(_code(n, 60) for n in range(25))),
    Scenario("the same file again", tuple([_code(1, 120)] * 12)),
    Scenario("code and logs", tuple(_log(n, 200) if n % 2 else _code(n, 80) for n in range(16))),
)
