"""OpenAI's Responses API: one item per block; reasoning stands directly before what it led to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

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
from laconic.wire.providers.openai_chat.format import refuse
from laconic.wire.providers.openai_chat.media import MEDIA
from laconic.wire.providers.openai_responses.hidden_calls import HIDDEN_CALLS
from laconic.wire.providers.openai_responses.requests import (
    compose,
    declare,
    extend_system,
    faults,
    read_tools,
    shape,
)
from laconic.wire.providers.openai_responses.usage import USAGE
from laconic.wire.providers.openai_responses.written_calls import ResponsesStream, question, rewrite


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls: whatever grows."""
    delta = event.get("delta")
    if isinstance(delta, str):
        return delta
    return ""


FORMAT: Final = ProviderFormat(
    name="responses",
    provider="openai",
    messages=("input",),
    pinned=("tools", "instructions"),
    shape=shape,
    compose=compose,
    faults=faults,
    merged=True,
    chained=("previous_response_id", "conversation"),
    system=("instructions",),
    extend_system=extend_system,
    session=SESSION_FIELDS,
    thinking=(
        ThinkingField(("reasoning", "effort"), words=pick_efforts("minimal", "low", "medium", "high", "xhigh")),
    ),
    output_limits=(("max_output_tokens",),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    media=MEDIA,
    usage=USAGE,
    refusals=Refusals(write=refuse),
    cache=CACHE_RULES,
    hidden_calls=HIDDEN_CALLS,
    address=ProviderAddress(path=re.compile("/responses")),
    written_calls=WrittenCalls(rewrite=rewrite, stream=ResponsesStream, question=question),
)
