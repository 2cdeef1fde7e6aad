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
_WINDOW: Final = re.compile(
    rb"maximum context length (?:is|of) (\d{3,8})|context (?:window|length|size)[^\d]{1,40}(\d{3,8})"
    rb"|tokens? > (\d{3,8}) maximum|maximum number of tokens allowed[^\d]{1,10}\(?(\d{3,8})"
)
_ANTHROPIC = {400: "invalid_request_error", 401: "authentication_error", 413: "request_too_large"}
_GEMINI = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 413: "INVALID_ARGUMENT"}


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


def window_of(status: int, body: bytes) -> int:
    """The tokens that a model takes, where a provider names them as it refuses a request that is too long; else 0."""
    if status not in {400, 413, 422}:
        return 0
    found = _WINDOW.search(body[:20_000].lower())
    return int(next(filter(None, found.groups()))) if found else 0
