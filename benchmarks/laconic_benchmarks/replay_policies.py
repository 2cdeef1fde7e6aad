"""What peers do to a history, as functions from a request to a request: to be compared with the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

Prepare = Callable[[bytes], bytes]

_CLEARED: Final = "[Old tool result content cleared]"


def mask_older(keep: int) -> Prepare:
    """Results but the newest ones are masked, on every request: nothing is remembered."""

    def prepare(body: bytes) -> bytes:
        request = msgspec.json.decode(body)
        results = _results(request)
        for block in results[: max(0, len(results) - keep)]:
            block["content"] = _CLEARED
        return msgspec.json.encode(request)

    return prepare


def clear_above(tokens: int, keep: int, count: Callable[[str], int]) -> Prepare:
    """Anthropic's context editing: whenever a prompt exceeds a size, all results but the newest are cleared, for good."""
    cleared: set[str] = set()

    def prepare(body: bytes) -> bytes:
        request = msgspec.json.decode(body)
        results = _results(request)
        _clear(results, cleared)
        if count(msgspec.json.encode(request).decode()) > tokens:
            cleared.update(block["tool_use_id"] for block in results[: max(0, len(results) - keep)])
            _clear(results, cleared)
        return msgspec.json.encode(request)

    return prepare


def _clear(results: list[dict[str, Any]], cleared: set[str]) -> None:
    for block in results:
        if block["tool_use_id"] in cleared:
            block["content"] = _CLEARED


def _results(request: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in request["messages"]:
        if isinstance(message["content"], list):
            found += [block for block in message["content"] if block.get("type") == "tool_result"]
    return found
