"""Refusals of our own, in the form that the clients of each provider understand."""

from __future__ import annotations

import msgspec

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
