"""Answer a client's first questions before the SDK is loaded.

Loading the SDK takes longer than some clients wait before they ask their model for the first time, and a server that is
late has no tools then. The handshake and the lists are plain data, so they are answered here; everything else, and the
handshake again, goes to the SDK's server, which owns the protocol from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from laconic import __version__
from laconic.mcp_server.client_needs import has_resources
from laconic.mcp_server.server_instructions import INSTRUCTIONS
from laconic.serving.stdio_lines import LineReader

VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # that begin with a handshake
MODERN: Final = "2026-07-28"  # in which every request says who asks
_GRACE: Final = 0.3  # seconds in which a client asks for the lists, once it was greeted
_META: Final = "io.modelcontextprotocol/"
_ENVELOPE: Final = (f"{_META}protocolVersion", f"{_META}clientInfo", f"{_META}clientCapabilities")


@dataclass(frozen=True, slots=True)
class HandshakeResult:
    """What the SDK's server has to hear, and the id of the request whose answer the client has already."""

    replay: tuple[bytes, ...] = ()
    answered: str | int | None = None
    ended: bool = False


def answer_handshake(
    lines: LineReader,
    *,
    editing: bool = False,
    running: bool = False,
    without_resources: Sequence[str] = (),
    listed: Callable[[], None] = lambda: None,
) -> HandshakeResult:
    """Answer until something comes that only the SDK can answer, or until the client has nothing more to ask.

    `listed` is called when the client was sent the tools.
    """
    questions = _Questions(editing, running, tuple(without_resources))
    replay: list[bytes] = []
    answered: str | int | None = None
    line: bytes | None = lines.wait()
    while line is not None:
        if not line:
            return HandshakeResult(ended=True)
        message = _decode(line)
        first = not replay and message.get("method") == "initialize"
        if first:
            result: dict[str, object] | None = questions.answer_initialize(message.get("params"))
        else:
            result = questions.answer(message, greeted=bool(replay))
        number = message.get("id")
        if result is not None and isinstance(number, str | int):
            lines.say(msgspec.json.encode({"jsonrpc": "2.0", "id": number, "result": result}))
            if "tools" in result:
                listed()
        if first:
            answered = number
        if first or result is None:
            replay.append(line)
            if not first and message.get("method") != "notifications/initialized":
                break
        line = lines.next(_GRACE)
    return HandshakeResult(tuple(replay), answered)


_ABOUT: Final = {"name": "laconic", "version": __version__}


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions that plain data can answer, for a server with these tools."""

    editing: bool
    running: bool
    without_resources: tuple[str, ...]

    def answer_initialize(self, params: object) -> dict[str, object]:
        if isinstance(params, dict):
            wished = params.get("protocolVersion")
        else:
            wished = None
        version = wished if wished in VERSIONS else VERSIONS[-1]
        return {"protocolVersion": version, "serverInfo": _ABOUT, **self._offer(params)}

    def answer(self, message: dict[str, Any], *, greeted: bool) -> dict[str, object] | None:
        params = message.get("params") or {}
        if not isinstance(message.get("id"), str | int) or not isinstance(params, dict) or params.get("cursor"):
            return None
        meta = params.get("_meta") or {}
        modern = all(key in meta for key in _ENVELOPE) and meta[_ENVELOPE[0]] == MODERN
        if not modern and not greeted:
            return None
        about: dict[str, object] = {}
        if modern:
            stamp = {f"{_META}serverInfo": _ABOUT}
            about = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0, "_meta": stamp}
        if message["method"] == "server/discover" and modern:
            return {"supportedVersions": [MODERN], **self._offer(params), **about}
        if message["method"] == "ping" and not modern:
            return {}
        listed = self._answer_list(message["method"])
        if listed is None:
            return None
        return {**listed, **about}

    def _answer_list(self, method: str) -> dict[str, object] | None:
        if not method.endswith("/list"):
            return None
        from laconic.mcp_server import tools_and_resources  # loads all tools: after the client was greeted

        match method:
            case "tools/list":
                return {"tools": tools_and_resources.list_tools(editing=self.editing, running=self.running)}
            case "resources/list":
                return {"resources": tools_and_resources.list_resources(editing=self.editing)}
            case "resources/templates/list":
                return {"resourceTemplates": tools_and_resources.TEMPLATES}
        return None

    def _offer(self, params: object) -> dict[str, object]:
        capabilities: dict[str, object] = {"tools": {"listChanged": False}}
        if has_resources(params, self.without_resources):
            capabilities["resources"] = {"listChanged": False, "subscribe": False}
        return {"capabilities": capabilities, "instructions": INSTRUCTIONS}


def _decode(line: bytes) -> dict[str, Any]:
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}  # what is wrong with it is said when the SDK's server gets it
    if isinstance(message, dict) and isinstance(message.get("method"), str):
        return message
    return {}
