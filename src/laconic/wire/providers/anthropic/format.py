"""Anthropic's Messages API: content blocks, results inside user messages, thinking before everything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from laconic.wire.messages import ProviderDialect
from laconic.wire.provider_format import (
    SESSION_FIELDS,
    ProviderAddress,
    ProviderFormat,
    Refusals,
    ThinkingField,
    WrittenCalls,
    pick_efforts,
)
from laconic.wire.providers.anthropic.cache_rules import CACHE_RULES
from laconic.wire.providers.anthropic.dialect import MessageReader, express, whole, write
from laconic.wire.providers.anthropic.hidden_calls import HIDDEN_CALLS
from laconic.wire.providers.anthropic.media import MEDIA
from laconic.wire.providers.anthropic.rate_limits import RATE_LIMITS
from laconic.wire.providers.anthropic.requests import (
    append_text,
    compose,
    declare,
    extend_system,
    faults,
    read_tools,
    shape,
)
from laconic.wire.providers.anthropic.usage import USAGE
from laconic.wire.providers.anthropic.written_calls import AnthropicStream, question, rewrite


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls."""
    delta = event.get("delta")
    if not isinstance(delta, Mapping):
        return ""
    found = []
    for name in ("text", "thinking", "partial_json"):
        found.append(delta.get(name))
    return "".join(text for text in found if isinstance(text, str))


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind = _ERRORS.get(status, "api_error")
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    named = {"x-api-key": key} if key else {}
    return {"anthropic-version": "2023-06-01", **named}


_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}

FORMAT: Final = ProviderFormat(
    name="anthropic",
    provider="anthropic",
    messages=("messages",),
    pinned=("tools", "system"),
    shape=shape,
    compose=compose,
    faults=faults,
    merged=True,
    append_text=append_text,
    system=("system",),
    extend_system=extend_system,
    session=SESSION_FIELDS,
    thinking=(
        ThinkingField(("thinking", "budget_tokens"), least=1_024),
        ThinkingField(("output_config", "effort"), words=pick_efforts("low", "medium", "high", "max")),
    ),
    output_limits=(("max_tokens",),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    media=MEDIA,
    usage=USAGE,
    refusals=Refusals(
        write=refuse,
        too_long=(
            re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+) maximum"),
            re.compile(r"exceed context limit: (?P<sent>\d+) \+ (?P<answer>\d+) > (?P<most>\d+)"),
        ),
    ),
    cache=CACHE_RULES,
    rate_limits=RATE_LIMITS,
    hidden_calls=HIDDEN_CALLS,
    address=ProviderAddress(
        path=re.compile("/v1/messages"),
        own_paths=re.compile("/v1/messages"),
        own_headers=frozenset({"anthropic-version", "anthropic-beta", "x-api-key"}),
        key_starts=("sk-ant-",),
        url=lambda base, model: f"{base}/v1/messages",
        headers=headers,
        variables=("ANTHROPIC_BASE_URL",),
        keys=("ANTHROPIC_API_KEY",),
        tokens=("ANTHROPIC_AUTH_TOKEN",),
    ),
    dialect=ProviderDialect(write, MessageReader, whole, express),
    written_calls=WrittenCalls(rewrite=rewrite, stream=AnthropicStream, question=question),
)
