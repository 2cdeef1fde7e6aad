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
# Tokens that were sent, where they are told, and tokens that the model takes; in the words of each provider. They stand
# at the start of what it says: further behind, a text of the conversation may be quoted.
_TOO_LONG: Final = (
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+) maximum"),  # Anthropic
    re.compile(  # OpenAI, vLLM, OpenRouter and their like
        r"(?:model|endpoint)'s maximum context length is (?P<most>\d+) tokens"
        r"(?:.{0,80}?(?P<sent>\d+) (?:input )?tokens)?",
        re.S,
    ),
    re.compile(r"input token count \(?(?P<sent>\d+)\)? exceeds.{0,40}?allowed \(?(?P<most>\d+)"),  # Gemini
    re.compile(  # llama.cpp
        r"\((?P<sent>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)"
    ),
    re.compile(r"prompt contains (?P<sent>\d+) tokens.{0,80}?(?P<most>\d+) maximum context length", re.S),  # Mistral
    re.compile(r"prompt \(length (?P<sent>\d+)\) is longer than the maximum model length of (?P<most>\d+)"),  # vLLM
)
_BEGINS: Final = 60  # characters that may stand before it
_SMALLEST: Final = 1_024  # tokens: no model takes less, whatever somebody says
_LARGEST: Final = 100_000_000
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
    text = _message(body).lower().replace(",", "")
    for pattern in _TOO_LONG:
        found = pattern.search(text[:400])
        if found is None or found.start() > _BEGINS:
            continue
        most, sent = int(found["most"]), int(found["sent"] or 0)
        if _SMALLEST <= most <= _LARGEST and (not sent or sent > most // 2):
            return TooLong(most, sent)
    return None


def _message(body: bytes) -> str:
    """The sentence in an error, wherever servers put it."""
    try:
        said = msgspec.json.decode(body[:200_000])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body[:1_000].decode("utf-8", "replace")
    if isinstance(said, list) and said:  # Gemini streams a list
        said = said[0]
    for _ in range(3):
        if not isinstance(said, dict):
            break
        said = next((said[name] for name in ("error", "message", "detail") if said.get(name)), "")
    return said if isinstance(said, str) else ""
