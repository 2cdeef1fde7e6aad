"""Anthropic's Messages API: content blocks, results inside user messages, thinking before everything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from laconic.models.find import find_model
from laconic.wire.content import JsonObject, call_part, pieces_of, plain_part, result_part, text_part
from laconic.wire.model import BlockLayout, Fault, Kind, Role, Shape
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.prompted.answer import WrittenText, call_id, read_text
from laconic.wire.prompted.calls import PromptedTool
from laconic.wire.prompted.down import DownStream
from laconic.wire.prompted.parser import CallParser
from laconic.wire.provider_format import Address, DeclaredTool, ProviderFormat, Refusals, ThinkingField, WrittenCalls
from laconic.wire.rules import check_paired, ends_answerable, nothing_empty, starts_with_user
from laconic.wire.spans import ByteSpan, is_array, is_string
from laconic.wire.speaking.talk import (
    Asking,
    Json,
    Message,
    ModelAnswer,
    ModelCall,
    Offer,
    ProviderDialect,
    Spoken,
    UserMessage,
    decode_arguments,
    make_call_id,
)
from laconic.wire.sse import event_of
from laconic.wire.usage import Counters, Usage, UsageFields, first_of

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_KINDS: Final[dict[str, Kind]] = {
    "image": "image",
    "thinking": "thinking",
    "redacted_thinking": "redacted",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
    "mcp_tool_result": "server",
}
_TEXTS: Final = frozenset({"text"})


def shape(raw: bytes) -> Shape:
    """One element of `messages`."""
    message = JsonObject(raw)
    native = message.text("role")
    role = _ROLES.get(native, "user")
    content = message.fields.get("content")
    if content is None:
        return Shape(role, (), (), native)
    if is_string(message.raw("content")):
        return Shape(role, (text_part(raw, role, content, content),), (), native)
    parts = tuple(_part(raw, role, span) for span in message.list("content"))
    return Shape(role, parts, (content,) if is_array(message.raw("content")) else (), native)


def _part(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    block = JsonObject(raw, span)
    kind = block.text("type")
    if kind == "text" and is_string(block.raw("text")):
        return text_part(raw, role, span, block.fields["text"], list=0, fixed="citations" in block.fields)
    if kind == "tool_use":
        return call_part(
            raw, role, span, block.fields.get("input"), id=block.text("id"), name=block.text("name"), list=0
        )
    if kind == "tool_result":
        return result_part(
            raw,
            span,
            block.fields.get("content"),
            pieces_of(raw, block.list("content"), _TEXTS),
            id=block.text("tool_use_id"),
            error=block.raw("is_error") == b"true",
            list=0,
        )
    neutral: Kind = "server" if kind.endswith("_tool_result") else _KINDS.get(kind, "opaque")
    return plain_part(raw, role, neutral, span, id=block.text("id"), name=block.text("name"), list=0)


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": role, "content": [{"type": "text", "text": text}]})


def append_text(message: bytes, text: str) -> bytes:
    """A message with a text behind all of its blocks."""
    held = msgspec.json.decode(message)
    content = held["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return msgspec.json.encode({**held, "content": [*content, {"type": "text", "text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    found = [
        *starts_with_user(conversation),
        *nothing_empty(conversation),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]
    for turn in conversation.turns:
        kinds = [block.kind for block in turn.blocks]
        if "result" in kinds and turn.role != "user":
            found.append(Fault("role", turn.index, "a tool_result outside a user message"))
        if "call" in kinds and turn.role != "assistant":
            found.append(Fault("role", turn.index, "a tool_use outside an assistant message"))
        if {"thinking", "redacted"} & set(kinds) and turn.role != "assistant":
            found.append(Fault("thinking", turn.index, "thinking outside an assistant message"))
        if "result" in kinds and any(kind != "result" for kind in kinds[: kinds.index("result")]):
            found.append(Fault("order", turn.index, "tool_result blocks must come first in their message"))
    return found


# what our own agent writes and reads

_MARK: Final = {"type": "ephemeral"}
_GROWING: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def write(asking: Asking) -> bytes:
    """The body of a request, with two marks for the cache: behind what never changes, and behind the history."""
    messages: list[Json] = []
    for at, message in enumerate(asking.messages):
        written = _message(message, at)
        if messages and messages[-1]["role"] == written["role"]:  # roles alternate
            messages[-1] = {**written, "content": [*messages[-1]["content"], *written["content"]]}
        else:
            messages.append(written)
    if messages:
        *content, last = messages[-1]["content"]
        messages[-1] = {**messages[-1], "content": [*content, {**last, "cache_control": _MARK}]}
    body: Json = {"model": asking.model, "max_tokens": asking.most}
    if asking.tools:
        body["tools"] = [declare(tool) for tool in asking.tools]
    if asking.system:
        body["system"] = [{"type": "text", "text": asking.system, "cache_control": _MARK}]
    if asking.temperature is not None:
        body["temperature"] = asking.temperature
    return msgspec.json.encode({**body, "messages": messages, "stream": True})


def _message(message: Message, at: int) -> Json:
    if isinstance(message, UserMessage):
        return {"role": "user", "content": [{"type": "text", "text": message.text}]}
    if isinstance(message, Spoken):
        if message.native is not None and message.format == "anthropic":
            return message.native
        return _write_spoken(message.text, message.uses, at)
    results = []
    for number, one in enumerate(message.outcomes):
        result: Json = {"type": "tool_result", "tool_use_id": make_call_id(one.id, at - 1, number)}
        result["content"] = one.text or "(empty)"
        results.append({**result, "is_error": True} if one.failed else result)
    return {"role": "user", "content": results}


def _write_spoken(text: str, uses: tuple[ModelCall, ...], at: int) -> Json:
    content: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    content += [
        {"type": "tool_use", "id": make_call_id(use.id, at, n), "name": use.name, "input": use.arguments}
        for n, use in enumerate(uses)
    ]
    return {"role": "assistant", "content": content or [{"type": "text", "text": "…"}]}


class MessageReader:
    """Blocks come one after the other; all but calls are kept as they are, signatures included."""

    def __init__(self) -> None:
        self._blocks: dict[int, Json] = {}
        self._written: dict[int, str] = {}  # arguments
        self._stop = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(_USAGE.collect(event))
        kind, index = event.get("type"), event.get("index", 0)
        delta = event.get("delta")
        if kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self._blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta" and isinstance(delta, dict) and index in self._blocks:
            return self._grow(index, delta)
        elif kind == "message_delta" and isinstance(delta, dict):
            self._stop = str(delta.get("stop_reason") or self._stop)
        return ""

    def _grow(self, index: int, delta: Json) -> str:
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            self._written[index] = self._written.get(index, "") + str(delta.get("partial_json") or "")
        elif kind in _GROWING and isinstance(piece := delta.get(_GROWING[kind]), str):
            field = _GROWING[kind]
            self._blocks[index][field] = str(self._blocks[index].get(field) or "") + piece
            return piece if kind == "text_delta" else ""
        return ""

    def close(self) -> ModelAnswer:
        uses, content, texts = [], [], []
        truncated = self._stop == "max_tokens" or (not self._stop and bool(self._blocks))
        for index, block in sorted(self._blocks.items()):
            if block.get("type") == "tool_use":
                given = block.get("input")
                arguments, broken = (given, "") if isinstance(given, dict) else ({}, "arguments")
                if index in self._written or (truncated and not arguments):
                    arguments, broken = decode_arguments(self._written.get(index, "{"), truncated=truncated)
                uses.append(ModelCall(str(block.get("name")), arguments, str(block.get("id") or ""), broken))
                block["input"] = arguments
            elif block.get("type") == "text":
                texts.append(str(block.get("text") or ""))
                if not texts[-1].strip():
                    continue
            content.append(block)
        native = {"role": "assistant", "content": content} if content and all(use.id for use in uses) else None
        return ModelAnswer("\n".join(texts), tuple(uses), truncated, native, _USAGE.record(self._counters, False))


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece, as events."""
    yield {"type": "message_start", "message": {key: value for key, value in answer.items() if key != "content"}}
    content = answer.get("content")
    for index, block in enumerate(content if isinstance(content, list) else []):
        yield {"type": "content_block_start", "index": index, "content_block": block}
    yield {"type": "message_delta", "delta": {"stop_reason": answer.get("stop_reason") or "end_turn"}}


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def event(kind: str, **more: Any) -> bytes:
        return event_of(msgspec.json.encode({"type": kind, **more}), kind)

    def block(index: int, start: Json, deltas: list[Json]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    usage = heard.usage or Usage()
    counted = {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }
    yield event("message_start", message={"id": "m", "role": "assistant", "content": [], "usage": counted})
    blocks = 0
    if heard.text:
        pieces = [heard.text[start : start + 40] for start in range(0, len(heard.text), 40)]
        deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces]
        yield from block(0, {"type": "text", "text": ""}, deltas)
        blocks = 1
    for number, use in enumerate(heard.uses):
        start = {"type": "tool_use", "id": make_call_id(use.id, 0, number), "name": use.name, "input": {}}
        written = msgspec.json.encode(use.arguments).decode()
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in (written[:20], written[20:])]
        yield from block(blocks + number, start, deltas)
    stop = "tool_use" if heard.uses else "end_turn"
    if heard.truncated:
        stop = "max_tokens"
    yield event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": usage.output})
    yield event("message_stop")


# calls that a model writes as text


def rewrite(answer: Json, tools: Sequence[PromptedTool]) -> list[WrittenText] | None:
    """A whole answer whose text holds calls, with real ones instead; None when it is no answer."""
    content = answer.get("content")
    if not isinstance(content, list):
        return None
    texts = [block for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)]
    written = "\n".join(block["text"] for block in texts)
    read = read_text(written, tools, answer.get("stop_reason") == "max_tokens")
    outcome = read.outcome
    if outcome.calls:
        kept = [block for block in content if block not in texts]
        text = [{"type": "text", "text": outcome.text}] if outcome.text.strip() else []
        uses = [
            {
                "type": "tool_use",
                "id": call_id("toolu", str(answer.get("id")), number),
                "name": call.name,
                "input": call.arguments,
            }
            for number, call in enumerate(outcome.calls)
        ]
        answer["content"] = [*kept, *text, *uses]
        answer["stop_reason"] = "tool_use"
    return [read]


class AnthropicStream(DownStream):
    """Messages: blocks get numbers of ours, and a text block opens with its first text, so that none stays empty."""

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        super().__init__(tools, retries)
        self._parser = CallParser(tools)
        self._id = ""
        self._blocks = 0
        self._numbers: dict[object, int] = {}  # the provider's number of a block -> ours
        self._text: object = None  # the provider's number of the last text block, whose end is held back
        self._left: tuple[int, int | None] = (0, None)  # blocks at the end of an answer, and the one that was open

    def resume(self) -> bytes:
        self._parser = CallParser(self._tools)
        self._numbers.clear()
        self._blocks, number = self._left
        super().resume()
        return b"" if number is None else _write_event({"type": "content_block_stop", "index": number})

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            message = event.get("message")
            self._id = self._id or (str(message.get("id")) if isinstance(message, dict) else "")
            return b"" if self._resumed else raw
        if kind == "content_block_start":
            return self._start(raw, event)
        if kind == "content_block_delta" and index == self._text:
            return self._delta(raw, event)
        if kind == "content_block_stop" and index == self._text:
            return b""
        if kind in {"content_block_delta", "content_block_stop"}:
            return self._renumber(raw, event)
        return self._end(raw, event) if kind == "message_delta" else raw

    def _start(self, raw: bytes, event: dict[str, Any]) -> bytes:
        ended = self._end_text()
        block = event.get("content_block")
        if isinstance(block, dict) and block.get("type") == "text":
            self._text = event.get("index")
            return ended
        self._numbers[event.get("index")] = self._blocks
        self._blocks += 1
        return ended + self._renumber(raw, event)

    def _delta(self, raw: bytes, event: dict[str, Any]) -> bytes:
        delta = event.get("delta")
        if not isinstance(delta, dict) or delta.get("type") != "text_delta" or not isinstance(delta.get("text"), str):
            return self._open_text() + self._renumber(raw, event)  # citations, say
        self._written += delta["text"]
        return self._say(self._parser.feed(delta["text"]))

    def _end(self, raw: bytes, event: dict[str, Any]) -> bytes:
        delta = event.get("delta") if isinstance(event.get("delta"), dict) else {}
        assert isinstance(delta, dict)
        truncated = delta.get("stop_reason") == "max_tokens"
        outcome = self._parser.close(truncated=truncated)
        self._judge(outcome, truncated=truncated)
        self._left = (self._blocks, self._numbers.get(self._text))
        out = [self._say(outcome.text), self._end_text()]
        for number, call in enumerate(outcome.calls):
            use = {"type": "tool_use", "id": call_id("toolu", self._id, number), "name": call.name, "input": {}}
            arguments = msgspec.json.encode(call.arguments).decode()
            out.append(self._block(use, {"type": "input_json_delta", "partial_json": arguments}))
        if outcome.calls:
            raw = _write_event({**event, "delta": {**delta, "stop_reason": "tool_use"}})
        return b"".join([*out, raw])

    def _say(self, text: str) -> bytes:
        text = self._apart(text)
        if not text:
            return b""
        opened = self._open_text()
        return opened + self._write_delta(self._numbers[self._text], {"type": "text_delta", "text": text})

    def _open_text(self) -> bytes:
        """The start of the current text block, once."""
        if self._text in self._numbers:
            return b""
        number = self._numbers[self._text] = self._blocks
        self._blocks += 1
        return _write_event(
            {"type": "content_block_start", "index": number, "content_block": {"type": "text", "text": ""}}
        )

    def _end_text(self) -> bytes:
        """The end of the last text block, if it was opened at all."""
        number = self._numbers.pop(self._text, None)
        self._text = None
        return b"" if number is None else _write_event({"type": "content_block_stop", "index": number})

    def _renumber(self, raw: bytes, event: dict[str, Any]) -> bytes:
        number = self._numbers.get(event.get("index"), event.get("index"))
        return raw if number == event.get("index") else _write_event({**event, "index": number})

    def _block(self, block: dict[str, Any], delta: dict[str, Any]) -> bytes:
        index = self._blocks
        self._blocks += 1
        start = _write_event({"type": "content_block_start", "index": index, "content_block": block})
        return start + self._write_delta(index, delta) + _write_event({"type": "content_block_stop", "index": index})

    @staticmethod
    def _write_delta(index: int, delta: dict[str, Any]) -> bytes:
        return _write_event({"type": "content_block_delta", "index": index, "delta": delta})


def _write_event(event: dict[str, Any]) -> bytes:
    return event_of(msgspec.json.encode(event), str(event["type"]))


# the facts


def declare(tool: Offer) -> Json:
    """A tool as requests declare it."""
    return {"name": tool.name, "description": tool.about, "input_schema": tool.schema}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str):
            schema = tool.get("input_schema")
            about = str(tool.get("description") or "")
            yield DeclaredTool(name, about, schema if isinstance(schema, Mapping) else {})


def extend_system(given: object, text: str) -> bytes:
    """The system prompt with a text behind it."""
    blocks: list[object] = []
    if isinstance(given, list):
        blocks = given
    elif given:
        blocks = [{"type": "text", "text": given}]
    return msgspec.json.encode([*blocks, {"type": "text", "text": text}])


def question(model: str, text: str, tool: Offer, most: int) -> bytes:
    """A request with one tool."""
    messages = [{"role": "user", "content": text}]
    body = {"model": model, "max_tokens": most, "messages": messages, "tools": [declare(tool)]}
    return msgspec.json.encode(body)


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls."""
    delta = event.get("delta")
    if not isinstance(delta, Mapping):
        return ""
    found = [delta.get(name) for name in ("text", "thinking", "partial_json")]
    return "".join(text for text in found if isinstance(text, str))


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind = _ERRORS.get(status, "api_error")
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def record(counters: Counters, hour: bool) -> Usage | None:
    """Prompt tokens come in three counters that add up."""
    if not counters.keys() & {"input_tokens", "output_tokens", _READ, _WRITTEN} or counters.keys() & _FOREIGN:
        return None
    written = first_of(counters, _WRITTEN)
    is_told = _LONG in counters or _SHORT in counters
    long = first_of(counters, _LONG)
    if hour and not is_told:
        long = written
    return Usage(
        input=first_of(counters, "input_tokens"),
        cache_read=first_of(counters, _READ),
        cache_write=written,
        output=first_of(counters, "output_tokens"),
        long=min(long, written),
    )


def counts_cached(model: str) -> bool:
    """Cache reads do not count against a limit of tokens, but for models before Claude 3.7."""
    return find_model(model).counts_cache_reads


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    named = {"x-api-key": key} if key else {}
    return {"anthropic-version": "2023-06-01", **named}


_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    413: "request_too_large",
}
_READ: Final = "cache_read_input_tokens"
_WRITTEN: Final = "cache_creation_input_tokens"
_LONG: Final = "ephemeral_1h_input_tokens"
_SHORT: Final = "ephemeral_5m_input_tokens"
_FOREIGN: Final = frozenset({"cached_tokens", "cache_write_tokens"})  # counters of the Responses API
_USAGE: Final = UsageFields(
    report="usage",
    places=("message",),
    details={"cache_creation": frozenset({_LONG, _SHORT})},
    output=("output_tokens",),
    record=record,
    hour=re.compile(rb'"ttl"\s*:\s*"1h"'),
)

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
    session=(
        ("prompt_cache_key",),
        ("metadata", "user_id"),
        ("metadata", "session_id"),
        ("metadata", "conversation_id"),
        ("metadata", "thread_id"),
    ),
    thinking=(ThinkingField(("thinking", "budget_tokens")),),
    output_limits=(("max_tokens",),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    usage=_USAGE,
    refusals=Refusals(
        write=refuse,
        too_long=(re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+) maximum"),),
    ),
    limits={
        "tokens": ("anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-tokens-limit"),
        "tokens_left": ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-tokens-remaining"),
        "tokens_reset": ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-tokens-reset"),
        "requests": ("anthropic-ratelimit-requests-limit",),
        "requests_left": ("anthropic-ratelimit-requests-remaining",),
        "requests_reset": ("anthropic-ratelimit-requests-reset",),
        "input_only": ("anthropic-ratelimit-input-tokens-remaining",),
    },
    counts_cached=counts_cached,
    address=Address(
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
