"""Refusals of our own, in the form that the clients of each provider understand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from laconic.wire.formats import FORMATS
from laconic.wire.quoted_words import is_quoted

ToolsRefusal = Literal["", "quoted", "said"]  # quoted: the words are also in the request, so they may mean nothing
_NO_TOOLS: Final = re.compile(
    r"(?:does not|doesn't|not|no endpoints found that) support (?:\w+ )?(?:tool|function)"
    r"|(?:tool|function)[\w ]*(?:is|are) not supported"
    r"|--enable-auto-tool-choice|--jinja|unsupported (?:parameter|field)[^a-z]{1,4}tools"
)
_BEGINS: Final = 60  # characters that may stand before it
_SMALLEST: Final = 1_024  # tokens: no model takes less, whatever somebody says
_LARGEST: Final = 100_000_000
_NAMED: Final = 2_000  # characters in which a limit is named
_TEXTS: Final = 50  # of an error that are read
_PLAIN: Final = "chat"  # the format whose errors most clients understand


def refusal(format: str, status: int, message: str) -> bytes:
    """The body of an error answer, in the words of a format."""
    return FORMATS.get(format, FORMATS[_PLAIN]).refusals.write(status, message)


def refuses_tools(status: int, body: bytes) -> bool:
    """Whether a provider says that its model cannot call functions, in the words of the servers that we know."""
    return bool(read_tools_refusal(status, body, b""))


def read_tools_refusal(status: int, body: bytes, request: bytes) -> ToolsRefusal:
    """The same of the answer to a request, whose own words prove nothing."""
    if status not in {400, 404, 422, 500, 501}:
        return ""
    found: ToolsRefusal = ""
    for words in _NO_TOOLS.finditer(_message(body).lower()[:_NAMED]):
        if not is_quoted(words[0], request):
            return "said"
        found = "quoted"
    return found


class PromptTooLong(msgspec.Struct, frozen=True):
    """A prompt that a model does not take."""

    most: int  # tokens
    sent: int = 0  # 0: not said


def too_long(status: int, body: bytes, request: bytes = b"") -> PromptTooLong | None:
    """What a provider says when a prompt is too long; None when it says something else, or only quotes the request."""
    if status not in {400, 413, 422}:
        return None
    text = _message(body).lower().replace(",", "")
    # The numbers stand at the start of what a provider says: further behind, the conversation may be quoted.
    for pattern in _too_long_patterns():
        found = pattern.search(text[:400])
        if found is None or found.start() > _BEGINS or is_quoted(found[0], request):
            continue
        most, sent = int(found["most"]) - int(found.groupdict().get("answer") or 0), int(found["sent"] or 0)
        if _SMALLEST <= most <= _LARGEST and (not sent or sent > most // 2):
            return PromptTooLong(most, sent)
    return None


def named_limit(status: int, body: bytes) -> int | None:
    """Tokens per minute that a refusal names as the limit, in the words of the servers that we know; None: none."""
    if status != 429:
        return None
    text = f"{_message(body)[:_NAMED]} {_details(body)}".lower().replace(",", "")
    for format in FORMATS.values():
        for pattern in format.rate_limits.per_minute:
            found = pattern.search(text)
            if found and _SMALLEST <= int(found["limit"]) <= _LARGEST:
                return int(found["limit"])
    return None


def _too_long_patterns() -> Iterator[re.Pattern[str]]:
    for format in FORMATS.values():
        yield from format.refusals.too_long


def _message(body: bytes) -> str:
    """The sentence in an error, wherever servers put it."""
    try:
        said = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body[:1_000].decode("utf-8", "replace")
    for _ in range(3):
        if not isinstance(said, dict):
            break
        said = next((said[name] for name in ("error", "message", "detail") if said.get(name)), "")
    if isinstance(said, str):
        return said
    return ""


def _details(body: bytes) -> str:
    """The texts beside the sentence of an error: some servers name a limit only there."""
    try:
        said = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    if not isinstance(said, dict) or not isinstance(said.get("error"), dict):
        return ""
    texts: list[str] = []
    waiting = [said["error"].get("details")]
    while waiting and len(texts) < _TEXTS:
        one = waiting.pop(0)
        if isinstance(one, dict):
            waiting[:0] = one.values()
        elif isinstance(one, list):
            waiting[:0] = one
        elif isinstance(one, str):
            texts.append(one)
    return " ".join(texts)[:_NAMED]


def _decode(body: bytes) -> Any:
    said = msgspec.json.decode(body[:200_000])
    if isinstance(said, list) and said:  # Gemini streams a list
        return said[0]
    return said
