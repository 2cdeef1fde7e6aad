"""OpenAI's chat completions, and every server that speaks them: calls beside the content, one message per result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from laconic.wire.json_values import as_list, as_object
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
from laconic.wire.providers.openai_chat.cache_rules import CACHE_RULES
from laconic.wire.providers.openai_chat.dialect import ChatReader, express, whole, write
from laconic.wire.providers.openai_chat.hidden_calls import HIDDEN_CALLS
from laconic.wire.providers.openai_chat.media import MEDIA
from laconic.wire.providers.openai_chat.rate_limits import RATE_LIMITS
from laconic.wire.providers.openai_chat.requests import append_text, compose, declare, faults, read_tools, shape
from laconic.wire.providers.openai_chat.usage import USAGE
from laconic.wire.providers.openai_chat.written_calls import ChatStream, question, rewrite


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts, and names and arguments of calls."""
    found: list[object] = []
    choices = event.get("choices")
    for choice in as_list(choices):
        delta = as_object(choice).get("delta")
        if not isinstance(delta, Mapping):
            continue
        for name in ("content", "reasoning_content", "reasoning"):
            found.append(delta.get(name))
        for call in delta.get("tool_calls") or []:
            function = as_object(call).get("function")
            if isinstance(function, Mapping):
                found += [function.get("name"), function.get("arguments")]
    return "".join(text for text in found if isinstance(text, str))


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind, code = _ERRORS.get(status, ("invalid_request_error", None))
    if status >= 500:
        kind = "server_error"
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    if key:
        return {"authorization": f"Bearer {key}"}
    return {}


# In the words of OpenAI, vLLM, OpenRouter and their like; of llama.cpp; of Mistral; of vLLM once more.
_TOO_LONG: Final = (
    re.compile(
        r"(?:model|endpoint)'s maximum context length is (?P<most>\d+) tokens"
        r"(?:.{0,80}?(?P<sent>\d+) (?:input )?tokens)?",
        re.S,
    ),
    re.compile(r"\((?P<sent>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)"),
    re.compile(r"prompt contains (?P<sent>\d+) tokens.{0,80}?(?P<most>\d+) maximum context length", re.S),
    re.compile(r"prompt \(length (?P<sent>\d+)\) is longer than the maximum model length of (?P<most>\d+)"),
)

_EFFORTS: Final = pick_efforts("minimal", "low", "medium", "high", "xhigh")

_ERRORS: Final = {
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    429: ("requests", "rate_limit_exceeded"),
}

FORMAT: Final = ProviderFormat(
    name="chat",
    provider="openai",
    messages=("messages",),
    pinned=("tools", "functions"),
    shape=shape,
    compose=compose,
    faults=faults,
    append_text=append_text,
    session=SESSION_FIELDS,
    thinking=(
        ThinkingField(("thinking", "budget_tokens")),
        ThinkingField(("reasoning", "effort"), words=_EFFORTS),
        ThinkingField(("reasoning_effort",), words=_EFFORTS),
    ),
    output_limits=(("max_tokens",), ("max_completion_tokens",)),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    media=MEDIA,
    usage=USAGE,
    refusals=Refusals(write=refuse, too_long=_TOO_LONG),
    cache=CACHE_RULES,
    rate_limits=RATE_LIMITS,
    hidden_calls=HIDDEN_CALLS,
    address=ProviderAddress(
        path=re.compile("/chat/completions"),
        own_paths=re.compile("/v1/"),
        key_starts=("sk-proj-", "sk-svcacct-", "sk-admin-"),
        url=lambda base, model: f"{base}/v1/chat/completions",
        headers=headers,
        variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        keys=("OPENAI_API_KEY",),
    ),
    dialect=ProviderDialect(write, ChatReader, whole, express),
    written_calls=WrittenCalls(rewrite=rewrite, stream=ChatStream, question=question),
)
