"""A client of the language server protocol over stdio: as much of it as asking about code needs."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, Final, Self
from urllib.parse import unquote, urlsplit

_PATIENCE: Final = 300.0  # seconds for one answer
_CAPABILITIES: Final[dict[str, Any]] = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "references": {},
        "implementation": {},
        "synchronization": {},
    },
    "window": {"workDoneProgress": True},
    "workspace": {"configuration": True, "workspaceFolders": True},
}


class LanguageServer:
    """One running server for one folder."""

    def __init__(self, command: Sequence[str], root: Path, options: dict[str, Any]) -> None:
        self._root = root
        self._count = 0
        self._running: set[str] = set()  # what the server says that it works on
        self._inbox: Queue[dict[str, Any]] = Queue()
        self._process = subprocess.Popen(
            list(command), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        Thread(target=self._listen, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": _CAPABILITIES,
                "initializationOptions": options,
            },
        )
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": {}})  # some begin to work only then

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: str, language: str) -> None:
        file = self._root / path
        text = file.read_text("utf-8", "replace")
        item = {"uri": file.as_uri(), "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def close(self, path: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": (self._root / path).as_uri()}})

    def ask_at(self, method: str, path: str, line: int, column: int, **more: object) -> list[dict[str, Any]]:
        """The places that a question about a place leads to; lines are counted from 0."""
        found = self.ask(
            f"textDocument/{method}",
            {
                "textDocument": {"uri": (self._root / path).as_uri()},
                "position": {"line": line, "character": column},
                **more,
            },
        )
        return found if isinstance(found, list) else []

    def line(self, path: str, number: int) -> str:
        """A line of a file, counted from 1."""
        lines = self.lines(path)
        return lines[number - 1] if number <= len(lines) else ""

    def lines(self, path: str) -> list[str]:
        return (self._root / path).read_text("utf-8", "replace").split("\n")

    def does_know(self, method: str, path: str, line: int, column: int) -> bool:
        """Whether a question about a place has an answer; lines are counted from 0."""
        place = {"line": line, "character": column}
        asked = {"textDocument": {"uri": (self._root / path).as_uri()}, "position": place}
        return bool(self.ask(f"textDocument/{method}", asked))

    def outline(self, path: str) -> list[dict[str, Any]]:
        found = self.ask("textDocument/documentSymbol", {"textDocument": {"uri": (self._root / path).as_uri()}})
        return found if isinstance(found, list) else []

    def place(self, found: dict[str, Any]) -> tuple[str, int] | None:
        """The path below the root and the line (from 1) of a location; nothing when it is elsewhere."""
        uri = found.get("uri") or found.get("targetUri") or ""
        span = found.get("range") or found.get("targetSelectionRange") or {}
        path = Path(unquote(urlsplit(str(uri)).path))
        if not path.is_relative_to(self._root):
            return None
        return path.relative_to(self._root).as_posix(), int(span["start"]["line"]) + 1

    def wait_until_idle(self, quiet: float = 3.0, longest: float = 240.0) -> None:
        """Wait until the server says of nothing that it is under way."""
        end = time.monotonic() + longest
        calm = time.monotonic() + quiet
        while time.monotonic() < end:
            try:
                self._take(self._inbox.get(timeout=0.5), 0)
            except Empty:
                pass
            else:
                calm = time.monotonic() + quiet
            if self._running:
                calm = time.monotonic() + quiet
            elif time.monotonic() > calm:
                return

    def tell(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        self._count += 1
        number = self._count
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                message = self._inbox.get(timeout=1.0)
            except Empty:
                if self._process.poll() is not None:
                    raise ConnectionError(f"the language server ended during {method}") from None
                continue
            if self._take(message, number):
                return message.get("result")
        raise TimeoutError(f"no answer to {method}")

    def _take(self, message: dict[str, Any], number: int) -> bool:
        """Whether a message answers our question; what the server asks of us is answered on the way."""
        method = message.get("method")
        if method is None:
            return message.get("id") == number
        if "id" in message:
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": _ANSWERS.get(method, _nothing)(message)})
        elif method == "$/progress":
            self._note(message["params"])
        return False

    def _note(self, params: dict[str, Any]) -> None:
        token, kind = str(params["token"]), params["value"].get("kind")
        if kind == "begin":
            self._running.add(token)
        elif kind == "end":
            self._running.discard(token)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        size = 0
        while line := stream.readline():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            elif not line.strip() and size:
                self._inbox.put(json.loads(stream.read(size)))
                size = 0


def _nothing(message: dict[str, Any]) -> None:
    return None


def _configure(message: dict[str, Any]) -> list[None]:
    return [None] * len(message["params"]["items"])


_ANSWERS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {"workspace/configuration": _configure}
