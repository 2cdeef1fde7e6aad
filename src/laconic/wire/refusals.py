"""Refusals of our own, in the form that the clients of each provider understand."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_NO_TOOLS: Final = re.compile(
    rb"(?:does not|doesn't|not|no endpoints found that) support (?:\w+ )?(?:tool|function)"
    rb"|(?:tool|function)[\w ]*(?:is|are) not supported"
    rb"|--enable-auto-tool-choice|--jinja|unsupported (?:parameter|field)[^a-z]{1,4}tools"
)
# Tokens that were sent, where they are told, and tokens that the model takes.
_TOO_LONG: Final = (
    re.compile(rb"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+) maximum"),
    re.compile(rb"maximum context length is (?P<most>\d+) tokens(?:.{0,80}?(?P<sent>\d+) (?:input )?tokens)?", re.S),
    re.compile(rb"input token count \(?(?P<sent>\d+)\)? exceeds.{0,40}?allowed \(?(?P<most>\d+)"),
    re.compile(rb"\((?P<sent>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)"),
    re.compile(rb"prompt contains (?P<sent>\d+) tokens.{0,80}?(?P<most>\d+) maximum context length", re.S),
    re.compile(rb"context (?:window|length|size)[^\d]{1,40}(?P<most>\d{3,8})(?P<sent>)"),
)
_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    413: "request_too_large",
}
_GEMINI = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 413: "INVALID_ARGUMENT"}


def refusal(format: str, status: int, message: str) -> bytes:
    """The body of an error answer."""
    body: dict[str, object]
    if format == "anthropic":
        body = {"type": "error", "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": message}}
    elif format == "gemini":
        body = {"error": {"code": status, "message": message, "status": _GEMINI.get(status, "UNAVAILABLE")}}
    else:
        kind = "invalid_request_error" if status < 500 else "server_error"
        body = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    return msgspec.json.encode(body)


def refuses_tools(status: int, body: bytes) -> bool:
    """Whether a provider says that its model cannot call functions, in the words of the servers that we know."""
    if status not in {400, 404, 422, 500, 501}:
        return False
    text = body[:20_000].lower()
    return _NO_TOOLS.search(text) is not None


class TooLong(msgspec.Struct, frozen=True):
    """A prompt that a model does not take."""

    most: int  # tokens
    sent: int = 0  # 0: not said


def too_long(status: int, body: bytes) -> TooLong | None:
    """What a provider says when a prompt is too long; None when it says something else."""
    if status not in {400, 413, 422}:
        return None
    text = body[:20_000].lower().replace(b",", b"")
    for pattern in _TOO_LONG:
        if found := pattern.search(text):
            return TooLong(int(found["most"]), int(found["sent"] or 0))
    return None
