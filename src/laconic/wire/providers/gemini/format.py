"""Gemini's generateContent: parts of contents, calls that may lack an id, signatures on thoughts and calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from laconic.wire.json_values import as_list, as_object
from laconic.wire.messages import ProviderDialect
from laconic.wire.provider_format import ProviderAddress, ProviderFormat, Refusals, ThinkingField, pick_efforts
from laconic.wire.providers.gemini.cache_rules import CACHE_RULES
from laconic.wire.providers.gemini.dialect import ContentReader, express, whole, write
from laconic.wire.providers.gemini.hidden_calls import HIDDEN_CALLS
from laconic.wire.providers.gemini.media import MEDIA
from laconic.wire.providers.gemini.rate_limits import RATE_LIMITS
from laconic.wire.providers.gemini.requests import (
    append_text,
    compose,
    declare,
    extend_system,
    faults,
    read_tools,
    shape,
)
from laconic.wire.providers.gemini.usage import USAGE


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls."""
    found: list[str] = []
    candidates = event.get("candidates")
    for candidate in as_list(candidates):
        content = as_object(candidate).get("content")
        parts = as_object(content).get("parts")
        for part in as_list(parts):
            if isinstance(part, Mapping):
                call = part.get("functionCall")
                found.append(str(part.get("text") or ""))
                found.append(str(call.get("args", "")) if isinstance(call, Mapping) else "")
    return "".join(found)


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind = _ERRORS.get(status, "UNAVAILABLE")
    return msgspec.json.encode({"error": {"code": status, "message": message, "status": kind}})


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    if key:
        return {"x-goog-api-key": key}
    return {}


def _escape(name: str) -> str:
    return re.sub(rb"[^\w./~-]", lambda sign: b"%%%02X" % sign[0][0], name.encode()).decode()


def url(base: str, model: str) -> str:
    """Where our own requests go."""
    return f"{base}/v1beta/models/{_escape(model)}:streamGenerateContent?alt=sse"


_ERRORS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
}

FORMAT: Final = ProviderFormat(
    name="gemini",
    provider="gemini",
    messages=("contents",),
    pinned=("tools", "systemInstruction", "system_instruction"),
    shape=shape,
    compose=compose,
    faults=faults,
    append_text=append_text,
    system=("systemInstruction", "system_instruction"),
    extend_system=extend_system,
    thinking=(
        ThinkingField(("generationConfig", "thinkingConfig", "thinkingBudget")),
        ThinkingField(("generationConfig", "thinkingConfig", "thinkingLevel"), words=pick_efforts("low", "high")),
    ),
    output_limits=(("generationConfig", "maxOutputTokens"),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    media=MEDIA,
    usage=USAGE,
    refusals=Refusals(
        write=refuse,
        too_long=(re.compile(r"input token count \(?(?P<sent>\d+)\)? exceeds.{0,40}?allowed \(?(?P<most>\d+)"),),
    ),
    cache=CACHE_RULES,
    rate_limits=RATE_LIMITS,
    hidden_calls=HIDDEN_CALLS,
    address=ProviderAddress(
        path=re.compile(r"/models/([\w.-]+):(?:streamGenerateContent|generateContent)"),
        own_paths=re.compile(r"/v1(?:beta|alpha)"),
        own_headers=frozenset({"x-goog-api-key"}),
        key_starts=("AIza", "AQ.", "ya29."),
        url=url,
        headers=headers,
        variables=("GOOGLE_GEMINI_BASE_URL",),
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    dialect=ProviderDialect(write, ContentReader, whole, express),
)
