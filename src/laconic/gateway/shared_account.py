"""What a request must not do with an account that a team shares, and how much of an answer it asks for."""

from __future__ import annotations

from typing import Final

import msgspec

from laconic.exchange.plan import Plan
from laconic.wire.json_spans import members
from laconic.wire.json_values import as_object
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.thinking import most_output

# Fields that reach what the account keeps for others, or whose cost nobody would see.
_KEPT: Final = ("previous_response_id", "conversation", "container", "cachedContent", "cached_content", "prompt")
_UNSEEN: Final = ("background",)
_EMPTY: Final = frozenset({b"", b"null", b"false"})
_MOST: Final = 100  # answers to one request


def check_shared(plan: Plan, conversation: ParsedRequest) -> Plan:
    """The plan, with the reason if it must not be sent."""
    limit = most_output(conversation) * _count_answers(conversation)
    return msgspec.structs.replace(plan, answer_limit=limit, refused=_find_fault(conversation))


def _find_fault(conversation: ParsedRequest) -> str:
    names = set()
    for member in members(conversation.body):
        name = member.key.lower()  # some servers do not look at the case
        if name in names:
            return f"The request names {member.key[:100]!r} twice, so it is not clear what it asks for."
        names.add(name)
    for name in _KEPT:
        if conversation.field(name) not in _EMPTY:
            return f"{name!r} reaches what the provider keeps for the whole team. Send the conversation itself."
    for name in _UNSEEN:
        if conversation.field(name) not in _EMPTY:
            return f"Nobody would see what a request with {name!r} costs. Send it without."
    return ""


def _count_answers(conversation: ParsedRequest) -> int:
    wanted = conversation.decode_field("n")
    config = as_object(conversation.decode_field("generationConfig"))
    for number in (wanted, config.get("candidateCount")):
        if isinstance(number, int) and not isinstance(number, bool):
            return max(1, min(number, _MOST))
    return 1
