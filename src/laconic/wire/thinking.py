"""How much thinking a request asks for, and the fields that ask for less, in each provider's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from laconic.wire.parsed_request import ParsedRequest

_EFFORTS: Final[dict[str, int]] = {"minimal": 1_024, "low": 8_192, "medium": 16_384, "high": 32_768, "xhigh": 65_536}
_OUTPUTS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def asked_budget(conversation: ParsedRequest) -> int:
    """Tokens of thinking that the client asks for; an effort counts as what it usually takes; 0: none."""
    thinking = conversation.decode_field("thinking")
    if isinstance(thinking, Mapping) and isinstance(budget := thinking.get("budget_tokens"), int):
        return budget
    gemini = _gemini(conversation)
    if isinstance(budget := gemini.get("thinkingBudget"), int):
        return budget
    return _EFFORTS.get(_effort(conversation), 0)


def with_budget(conversation: ParsedRequest, budget: int, effort: str) -> dict[str, bytes]:
    """The fields that ask for this much; only those change that the client sent."""
    thinking = conversation.decode_field("thinking")
    if isinstance(thinking, Mapping) and isinstance(thinking.get("budget_tokens"), int):
        return {"thinking": msgspec.json.encode({**thinking, "budget_tokens": budget})}
    if isinstance(_gemini(conversation).get("thinkingBudget"), int):
        config = conversation.decode_field("generationConfig")
        assert isinstance(config, Mapping)
        inner = {**_gemini(conversation), "thinkingBudget": budget}
        return {"generationConfig": msgspec.json.encode({**config, "thinkingConfig": inner})}
    reasoning = conversation.decode_field("reasoning")
    if isinstance(reasoning, Mapping) and "effort" in reasoning:
        return {"reasoning": msgspec.json.encode({**reasoning, "effort": effort})}
    if conversation.text_field("reasoning_effort"):
        return {"reasoning_effort": msgspec.json.encode(effort)}
    return {}


def most_output(conversation: ParsedRequest) -> int:
    """Tokens that the answer may have; 0 where the client does not say."""
    for name in _OUTPUTS:
        if isinstance(value := conversation.decode_field(name), int):
            return value
    config = conversation.decode_field("generationConfig")
    value = config.get("maxOutputTokens") if isinstance(config, Mapping) else 0
    return value if isinstance(value, int) else 0


def in_tool_loop(conversation: ParsedRequest) -> bool:
    """Whether the model is to go on after results of its own calls."""
    spoken = [turn for turn in conversation.turns if turn.role != "system"]
    return bool(spoken) and any(block.kind == "result" for block in spoken[-1].blocks)


def _effort(conversation: ParsedRequest) -> str:
    reasoning = conversation.decode_field("reasoning")
    if isinstance(reasoning, Mapping) and isinstance(effort := reasoning.get("effort"), str):
        return effort
    return conversation.text_field("reasoning_effort")


def _gemini(conversation: ParsedRequest) -> Mapping[str, object]:
    config = conversation.decode_field("generationConfig")
    inner = config.get("thinkingConfig") if isinstance(config, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}
