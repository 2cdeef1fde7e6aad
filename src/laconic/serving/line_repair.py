"""Make a client's line one that the SDK can read, or the error that answers it: no request stays without an answer."""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec

_DEEPEST: Final = 100  # brackets within brackets; the SDK gives up at two hundred, without a word to the client
_PARSE_ERROR: Final = -32_700  # as JSON-RPC numbers it
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_NUMBER: Final = re.compile(rb'\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")')


class UnreadableMessage(Exception):
    """A line that is no message; carries the answer."""

    def __init__(self, number: object, problem: str) -> None:
        super().__init__(problem)
        error = {"code": _PARSE_ERROR, "message": problem}
        self.answer = msgspec.json.encode({"jsonrpc": "2.0", "id": number, "error": error})


def repair_line(line: bytes) -> bytes:
    """The line with half surrogate pairs replaced, since no text can hold them; raises UnreadableMessage."""
    if line.count(b"[") + line.count(b"{") > _DEEPEST and (number := _too_deep(line)) is not None:
        raise UnreadableMessage(find_id(line), f"The JSON is nested {number} deep or more. Send a flatter message.")
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _repair(line)
    return line


def _repair(line: bytes) -> bytes:
    try:
        message = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise UnreadableMessage(find_id(line), f"The line is not JSON: {error}. Send one message per line.") from None
    text = json.dumps(message, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.encode()


def _too_deep(line: bytes) -> int | None:
    depth = 0
    for token in _TOKEN.finditer(line):
        sign = token[0][:1]
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > _DEEPEST:
            return depth
    return None


def find_id(line: bytes) -> object:
    """The id of a request whose line cannot be read as a whole; None where it has none."""
    depth = 0
    for token in _TOKEN.finditer(line):
        sign = token[0][:1]
        depth += (sign in b"[{") - (sign in b"]}")
        if depth == 1 and token[0] == b'"id"' and (found := _NUMBER.match(line, token.end())):
            try:
                number: object = msgspec.json.decode(found[1])
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
            return number
    return None
