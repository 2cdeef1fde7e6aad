"""How much thinking a request asks for, and the fields that ask for less; each format says where they are."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from laconic.wire.json_values import as_object
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.provider_format import EFFORTS


def asked_budget(conversation: ParsedRequest) -> int:
    """Tokens of thinking that the client asks for; an effort counts as what it usually takes; 0: none."""
    for field in conversation.format.thinking:
        asked = _value_at(conversation, field.path)
        if field.words and isinstance(asked, str):
            return field.words.get(asked.lower(), EFFORTS.get(asked.lower(), 0))
        if not field.words and isinstance(asked, int):
            return asked
    return 0


def with_budget(conversation: ParsedRequest, budget: int, effort: str) -> dict[str, bytes]:
    """The fields that ask for this much; only those change that the client sent. Empty: nothing to change."""
    for field in conversation.format.thinking:
        asked = _value_at(conversation, field.path)
        if field.words and isinstance(asked, str):
            word = _choose_word(field.words, effort, asked)
            if word == asked:
                return {}
            return _field_with(conversation, field.path, word)
        if not field.words and isinstance(asked, int):
            return _field_with(conversation, field.path, budget)
    return {}


def least_budget(conversation: ParsedRequest) -> int:
    """The fewest tokens of thinking that the provider takes, in the field that the client sent."""
    for field in conversation.format.thinking:
        if _value_at(conversation, field.path) is not None:
            return field.least
    return 0


def _choose_word(words: Mapping[str, int], effort: str, asked: str) -> str:
    """The most that a provider has a word for and that is no more than this, written as the client writes.

    Half is not little: where there is no word for it, it stays as it is.
    """
    if effort == "medium" and effort not in words:
        return asked
    fitting = [word for word, tokens in words.items() if tokens <= EFFORTS[effort]]
    word = max(fitting or [min(words, key=words.__getitem__)], key=words.__getitem__)
    if asked.isupper():
        return word.upper()
    return word


def most_output(conversation: ParsedRequest) -> int:
    """Tokens that the answer may have; 0 where the client does not say."""
    for path in conversation.format.output_limits:
        if isinstance(value := _value_at(conversation, path), int):
            return value
    return 0


def in_tool_loop(conversation: ParsedRequest) -> bool:
    """Whether the model is to go on after results of its own calls."""
    for turn in reversed(conversation.turns):
        if turn.role != "system":
            return any(block.kind == "result" for block in turn.blocks)
    return False


def _value_at(conversation: ParsedRequest, path: tuple[str, ...]) -> object:
    found = conversation.decode_field(path[0])
    for name in path[1:]:
        found = as_object(found).get(name)
    return found


def _field_with(conversation: ParsedRequest, path: tuple[str, ...], value: object) -> dict[str, bytes]:
    """The top-level field with another value at the end of a path."""
    return {path[0]: msgspec.json.encode(_replace(conversation.decode_field(path[0]), path[1:], value))}


def _replace(held: object, path: tuple[str, ...], value: object) -> object:
    if not path:
        return value
    inner = as_object(held)
    return {**inner, path[0]: _replace(inner.get(path[0]), path[1:], value)}
