"""What has to be known about a provider's format: one record, which the provider's file fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from laconic.wire.messages import Json, ProviderDialect, ToolDefinition

if TYPE_CHECKING:
    from laconic.wire.cache_rules import CacheRules
    from laconic.wire.hidden_calls import HiddenCalls
    from laconic.wire.media_shape import MediaShape
    from laconic.wire.parsed_request import ParsedRequest
    from laconic.wire.prompted_tool_calls.answer import WrittenText
    from laconic.wire.prompted_tool_calls.calls import PromptedTool
    from laconic.wire.prompted_tool_calls.written_call_stream import WrittenCallStream
    from laconic.wire.turns_and_blocks import Fault, MessageShape
    from laconic.wire.usage import UsageFields

Path = tuple[str, ...]  # names of JSON members, from the top down
SESSION_FIELDS: Final[tuple[Path, ...]] = (  # where clients of several providers put a name of the session
    ("prompt_cache_key",),
    ("metadata", "user_id"),
    ("metadata", "session_id"),
    ("metadata", "conversation_id"),
    ("metadata", "thread_id"),
)


EFFORTS: Final[Mapping[str, int]] = {  # words for thinking that several providers use, and the tokens they stand for
    "minimal": 1_024,
    "low": 8_192,
    "medium": 16_384,
    "high": 32_768,
    "xhigh": 65_536,
    "max": 65_536,
}


def pick_efforts(*words: str) -> dict[str, int]:
    """The words that one provider takes."""
    found: dict[str, int] = {}
    for word in words:
        found[word] = EFFORTS[word]
    return found


class ThinkingField(msgspec.Struct, frozen=True):
    """Where a request says how much a model may think: tokens, or a word for them."""

    path: Path
    words: Mapping[str, int] = {}  # with the tokens that each usually takes; empty: a number of tokens
    least: int = 0  # tokens that the provider asks for, where there is thinking at all


class DeclaredTool(msgspec.Struct, frozen=True):
    """A tool as a request declares it."""

    name: str
    about: str = ""
    schema: Mapping[str, Any] = {}
    free: bool = False  # it takes a text of any form


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAddress:
    """Where requests go, and what shows whose they are."""

    path: re.Pattern[str]  # of a request to a model, behind any folders; its group is the model where the path has it
    own_paths: re.Pattern[str] | None = None  # how paths begin that nobody else has
    own_headers: frozenset[str] = frozenset()
    key_starts: tuple[str, ...] = ()
    url: Callable[[str, str], str] | None = None  # base and model -> where our own agent asks
    headers: Callable[[str], dict[str, str]] | None = None  # key -> what our own agent sends
    variables: tuple[str, ...] = ()  # that name the base URL
    keys: tuple[str, ...] = ()  # variables that hold the key
    tokens: tuple[str, ...] = ()  # variables that hold a token, which is sent as a bearer's


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Errors: ours in the provider's words, and the provider's own about a prompt that is too long."""

    write: Callable[[int, str], bytes]  # status and message -> a body
    # Groups `most` and, where they are told, `sent` and `answer`, which `most` includes; lower case, no commas.
    too_long: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitRules:
    """A provider's limits of tokens and requests: where it states them, and what counts against them."""

    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # field of `RateLimits` -> headers
    counts_cached: Callable[[str], bool] = lambda model: True  # model -> whether cache reads count as tokens
    per_minute: tuple[re.Pattern[str], ...] = ()  # in a refusal; group `limit`; lower case, no commas


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCalls:
    """How calls that a model writes as text become real ones on the way down."""

    rewrite: Callable[[Json, Sequence[PromptedTool]], list[WrittenText] | None]  # a whole answer, changed in place
    stream: Callable[[Sequence[PromptedTool], int], WrittenCallStream]
    question: Callable[[str, str, ToolDefinition, int], bytes]  # model, text, tool, tokens -> a request with one tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFormat:
    """What one provider's requests and answers look like."""

    name: str
    provider: str  # whose it is: anthropic, openai, gemini
    messages: Path  # names of the list of messages
    pinned: Path  # fields that hold the system prompt and the tools
    shape: Callable[[bytes], MessageShape]
    compose: Callable[[str, str], bytes]  # role and text -> a message
    faults: Callable[[ParsedRequest], list[Fault]]
    address: ProviderAddress
    usage: UsageFields
    cache: CacheRules
    refusals: Refusals
    spoken_text: Callable[[Mapping[str, Any]], str]  # the text that one event of a stream adds
    declare: Callable[[ToolDefinition], Json]  # a tool as an element of `tools`
    read_tools: Callable[[object], Iterator[DeclaredTool]]  # the tools of a request
    chained: Path = ()  # fields that name a history which the provider keeps
    merged: bool = False  # neighbouring assistant messages are one turn
    system: Path = ()  # names of the field that holds the system prompt; empty: it is a message
    extend_system: Callable[[object, str], bytes] | None = None  # that field, decoded, with a text behind it
    session: tuple[Path, ...] = ()  # where clients put a name of the session
    thinking: tuple[ThinkingField, ...] = ()
    output_limits: tuple[Path, ...] = ()  # where the longest answer is stated
    rate_limits: RateLimitRules = field(default_factory=RateLimitRules)
    append_text: Callable[[bytes, str], bytes] | None = None  # a message with a text behind it; None: not possible
    media: MediaShape | None = None  # how it holds images, documents, sound and video
    dialect: ProviderDialect | None = None  # how our own agent speaks it
    written_calls: WrittenCalls | None = None
    hidden_calls: HiddenCalls | None = None  # how calls are kept from the client
