"""Headroom as a policy for recorded sessions: its one-call interface, in a process of its own environment.

Its model for prose is switched off: it comes from a place that a measurement should not need.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic_benchmarks.peers.environments import environment, installed, peer

HEADROOM: Final = "headroom-ai"
# The program that runs in its environment: a request a line in, its messages out. Only answers go to standard output.
_SERVE: Final = """
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from headroom import compress
for line in sys.stdin:
    asked = json.loads(line)
    made = compress(asked["messages"], model=asked["model"], kompress_model="disabled", frozen_message_count=asked["n"])
    answers.write(json.dumps(made.messages) + "\\n")
    answers.flush()
"""


class HeadroomProcess:
    """Compresses the messages of requests, one after the other. Use as `with`."""

    def __init__(self, cache: Path) -> None:
        self.version = installed(cache, peer(HEADROOM))
        self._python = environment(cache, peer(HEADROOM)) / "bin" / "python"
        self._home = TemporaryDirectory()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HeadroomProcess:
        if self.version:
            self._process = subprocess.Popen(
                [str(self._python), "-c", _SERVE],
                env=child_environment({"HOME": self._home.name, "HEADROOM_OFFLINE": "1"}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()

    def whole(self) -> Callable[[bytes], bytes]:
        """Each request as it came, compressed anew."""

        def prepare(body: bytes) -> bytes:
            request = msgspec.json.decode(body)
            made = self._compress(request["messages"], request["model"], 0)
            request["messages"] = _mark_alike(made, request["messages"])
            return msgspec.json.encode(request)

        return prepare

    def frozen(self) -> Callable[[bytes], bytes]:
        """What was sent before stays as it was sent: so its documentation asks those who keep a conversation."""
        came: list[Any] = []
        sent: list[Any] = []

        def prepare(body: bytes) -> bytes:
            request = msgspec.json.decode(body)
            messages = request["messages"]
            joined = [*sent, *messages[len(came) :]]
            made = self._compress(joined, request["model"], len(sent))
            came[:], sent[:] = messages, made
            request["messages"] = _mark_alike(made, messages)
            return msgspec.json.encode(request)

        return prepare

    def _compress(self, messages: list[Any], model: str, frozen: int) -> list[Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            msgspec.json.encode({"messages": _without_marks(messages), "model": model, "n": frozen}) + b"\n"
        )
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise CommandFailed(f"{HEADROOM} {self.version} ended without an answer.")
        return msgspec.json.decode(line, type=list[Any])


def _mark_alike(made: Sequence[Any], came: Sequence[Any]) -> list[Any]:
    """Messages with cache marks where the client set them, and nowhere else."""
    found: list[Any] = []
    for place, message in enumerate(_without_marks(made)):
        content = message["content"]
        if isinstance(content, list) and content and place < len(came) and "cache_control" in str(came[place]):
            marked = {**content[-1], "cache_control": {"type": "ephemeral"}}
            message = {**message, "content": [*content[:-1], marked]}
        found.append(message)
    return found


def _without_marks(messages: Sequence[Any]) -> list[Any]:
    """It leaves alone what stands before a mark: with them it would do nothing, as clients mark the end."""
    found: list[Any] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            blocks = []
            for block in content:
                blocks.append({name: value for name, value in block.items() if name != "cache_control"})
            message = {**message, "content": blocks}
        found.append(message)
    return found
