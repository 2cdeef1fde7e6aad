"""What a request must not do with an account that a team shares, and how much of an answer it asks for."""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from laconic.exchange.plan import Plan
from laconic.gateway.kept_content import find_reference, plain_name
from laconic.wire.formats import FORMATS
from laconic.wire.json_spans import members
from laconic.wire.parsed_request import ParsedRequest

# Fields that reach what the account keeps for others, that choose other models, or whose cost nobody would see.
_KEPT: Final = frozenset({"previousresponseid", "conversation", "container", "cachedcontent", "prompt"})
_MODELS: Final = frozenset({"models", "fallbacks", "fallbackmodels", "preset"})
_UNSEEN: Final = frozenset({"background"})
_COUNTS: Final = frozenset({"n", "bestof", "candidatecount"})
_EMPTY: Final = frozenset({b"", b"null", b"false"})
_MOST: Final = 128  # answers to one request
_ANSWER: Final = 128_000  # tokens of an answer, where the request sets no limit that we understand


def check_shared(plan: Plan, conversation: ParsedRequest) -> Plan:
    """The plan, with the reason if it must not be sent."""
    fields, fault = _read_fields(conversation.body)
    fault = fault or _find_fault(fields)
    for name in _config_names():
        config, twice = _read_fields(fields.get(name, b""))
        fault = fault or twice
        fields = {**config, **fields}
    fault = fault or find_reference(conversation.body)
    return msgspec.structs.replace(plan, answer_limit=_highest_answer(fields), refused=fault)


@cache
def _limit_names() -> frozenset[str]:
    """Where any provider looks for the longest answer: servers understand each other's names."""
    return frozenset(plain_name(path[-1]) for format in FORMATS.values() for path in format.output_limits)


@cache
def _config_names() -> frozenset[str]:
    """Fields that hold such names."""
    paths = [path for format in FORMATS.values() for path in format.output_limits]
    return frozenset(plain_name(path[0]) for path in paths if len(path) > 1)


def _read_fields(raw: bytes) -> tuple[dict[str, bytes], str]:
    """The fields of an object, by names that all spellings share; and which of them is written twice."""
    found: dict[str, bytes] = {}
    if raw[:1] != b"{":
        return found, ""
    for member in members(raw):
        name = plain_name(member.key)  # servers differ in what they take for the same name
        if name in found:
            return found, f"The request names {member.key[:100]!r} twice, so it is not clear what it asks for."
        found[name] = member.value.of(raw)
    return found, ""


def _find_fault(fields: dict[str, bytes]) -> str:
    for name, value in fields.items():
        if value in _EMPTY:
            continue
        if name in _KEPT:
            return f"{name!r} reaches what the provider keeps for the whole team. Send the conversation itself."
        if name in _MODELS:
            return f"{name!r} may choose another model than the one that is paid for. Name one model."
        if name in _UNSEEN:
            return f"Nobody would see what a request with {name!r} costs. Send it without."
    return ""


def _highest_answer(fields: dict[str, bytes]) -> int:
    """Tokens that all answers may have together: of several limits the highest, as nobody knows which one counts."""
    limits, answers = list[int](), 1
    for name, value in fields.items():
        if name in _limit_names() and value not in _EMPTY:
            limits.append(_read_count(value) or _ANSWER)
        elif name in _COUNTS:
            answers = max(answers, min(_read_count(value), _MOST))
    return max(limits, default=_ANSWER) * answers


def _read_count(value: bytes) -> int:
    """A number, however it is written; 0 for anything else."""
    try:
        return max(0, int(float(value.strip(b'" '))))
    except (ValueError, OverflowError):
        return 0
