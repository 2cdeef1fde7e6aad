"""A client of an MCP server on standard input and output, for measurements: one request at a time, with a limit."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic import __version__
from laconic.config import child_environment
from laconic.errors import CommandFailed

_VERSION: Final = "2025-06-18"
_PATIENCE: Final = 120.0  # seconds for a handshake


class Client:
    """A server that runs until it is closed."""

    def __init__(self, command: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> None:
        self._command = list(command)
        self._number = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        try:
            self._server = subprocess.Popen(
                self._command,
                cwd=root,
                env=child_environment(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise CommandFailed(f"{self._command[0]} cannot be started: {error.strerror}.") from None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.instructions = self._greeted()
        except CommandFailed:
            self.close()
            raise

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        self._reader.join()
        for stream in (self._server.stdin, self._server.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not sent is of no use any more
                    stream.close()

    def _greeted(self) -> str:
        """Shake hands; what the server tells the model about itself."""
        about = {"name": "laconic bench", "version": __version__}
        params = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": about}
        told = self.request("initialize", params, _PATIENCE).get("instructions")
        self._say({"method": "notifications/initialized"})
        return str(told or "")

    def tools(self) -> list[dict[str, Any]]:
        """The tool list as it goes into every prompt."""
        return [
            {key: tool[key] for key in ("name", "description", "inputSchema") if key in tool}
            for tool in self.request("tools/list", {}, _PATIENCE)["tools"]
        ]

    def call(self, name: str, arguments: Mapping[str, object], seconds: float = 300) -> str:
        """The text of an answer."""
        result = self.request("tools/call", {"name": name, "arguments": dict(arguments)}, seconds)
        return "\n".join(str(part.get("text", "")) for part in result.get("content", ()))

    def request(self, method: str, params: Mapping[str, object], seconds: float) -> dict[str, Any]:
        self._number += 1
        self._say({"id": self._number, "method": method, "params": dict(params)})
        until = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise CommandFailed(f"{self._command[0]} did not answer {method} in {seconds:g} s.") from None
            if not line:
                raise CommandFailed(f"{self._command[0]} ended before it answered {method}.")
            message = _decoded(line)
            if message.get("id") == self._number and ("result" in message or "error" in message):
                if "error" in message:
                    raise CommandFailed(f"{method}: {message['error'].get('message', 'refused')}")
                return dict(message["result"])

    def _say(self, message: Mapping[str, object]) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
            self._server.stdin.flush()
        except OSError:
            pass  # the server has gone: the missing answer says so

    def _read(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            self._lines.put(line)
        self._lines.put(b"")


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}  # something that is not protocol on standard output
    return message if isinstance(message, dict) else {}
