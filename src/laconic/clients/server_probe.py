"""Start a server as a client would, and see whether it answers and which tools it has."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO, Any, Final

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.workspace.programs import find_program

_VERSION: Final = "2025-06-18"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a client would have seen."""

    problem: str = ""
    tools: tuple[str, ...] = ()
    schemas: tuple[Mapping[str, Any], ...] = ()  # the tools as the server lists them
    instructions: str = ""
    has_resources: bool = False
    seconds: float = 0.0  # until the server had answered `initialize`
    listed: float = 0.0  # until it had listed its tools


def ask(
    command: Sequence[str],
    root: Path,
    *,
    seconds: float = 20.0,
    environment: Mapping[str, str] | None = None,
    client: str = "laconic doctor",
) -> ProbeResult:
    """Initialise and list the tools, as a client of this name."""
    words = []
    for word in command:
        words.append(word.replace("${workspaceFolder}", str(root)))
    if not words:
        return ProbeResult("the command is empty")
    try:
        words[0] = find_program(words[0], root, environment)
    except CommandFailed as error:
        return ProbeResult(error.problem.removesuffix("."))
    started = time.perf_counter()
    try:
        server = subprocess.Popen(
            words,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment(environment),
        )
    except OSError as error:
        return ProbeResult(f"{words[0]} cannot be started: {error.strerror}")
    late = Timer(seconds, server.kill)
    late.start()
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        return _talk(server.stdin, server.stdout, started, client)
    finally:
        late.cancel()
        server.kill()
        server.communicate()


def _talk(to: IO[bytes], back: IO[bytes], started: float, client: str) -> ProbeResult:
    about = {
        "protocolVersion": _VERSION,
        "capabilities": {},
        "clientInfo": {"name": client, "version": "1"},
    }
    greeting = _request(to, back, 1, "initialize", about)
    if greeting is None:
        return ProbeResult("the server did not answer `initialize`")
    seconds = time.perf_counter() - started
    _say(to, {"method": "notifications/initialized"})
    listed = _request(to, back, 2, "tools/list", {})
    if listed is None:
        return ProbeResult("the server did not list its tools", seconds=seconds)
    tools = tuple(listed.get("tools", ()))
    return ProbeResult(
        tools=tuple(str(tool["name"]) for tool in tools),
        schemas=tools,
        instructions=str(greeting.get("instructions") or ""),
        has_resources="resources" in (greeting.get("capabilities") or {}),
        seconds=seconds,
        listed=time.perf_counter() - started,
    )


def _request(to: IO[bytes], back: IO[bytes], number: int, method: str, params: object) -> dict[str, Any] | None:
    _say(to, {"id": number, "method": method, "params": params})
    for line in back:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None  # something that is not protocol on standard output
        if isinstance(message, dict) and message.get("id") == number:
            result = message.get("result")
            if isinstance(result, dict):
                return result
            return None
    return None


def _say(to: IO[bytes], message: dict[str, object]) -> None:
    try:
        to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        to.flush()
    except OSError:
        pass  # the server has gone: the missing answer says so
