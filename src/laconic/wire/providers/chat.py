"""OpenAI's chat completions, and every server that speaks them: calls beside the content, one message per result."""

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
from laconic.wire.prompted.calls import PromptedCall, PromptedTool
from laconic.wire.prompted.down import DownStream
from laconic.wire.prompted.parser import CallParser
from laconic.wire.provider_format import Address, DeclaredTool, ProviderFormat, Refusals, ThinkingField, WrittenCalls
from laconic.wire.rules import check_paired, ends_answerable, nothing_empty
from laconic.wire.spans import ByteSpan, is_array, is_object, is_string
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

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_KINDS: Final[dict[str, Kind]] = {
    "image_url": "image",
    "input_audio": "image",
    "file": "image",
    "thinking": "thinking",
}
_TEXTS: Final = frozenset({"text"})
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


def shape(raw: bytes) -> Shape:
    """One element of `messages`."""
    message = JsonObject(raw)
    native = message.text("role")
    role = _ROLES.get(native, "user")
    if role == "tool":
        return Shape(role, (_result(raw, message),), (), native)
    parts: list[BlockLayout] = []
    lists: list[ByteSpan] = []
    content = message.fields.get("content")
    if content is not None and is_string(message.raw("content")):
        parts.append(text_part(raw, role, content, content))
    elif content is not None and is_array(message.raw("content")):
        lists.append(content)
        parts += [_element(raw, role, span) for span in message.list("content")]
    if role == "assistant":
        parts += _reasoning(raw, message)
        if calls := message.list("tool_calls"):
            lists.append(message.fields["tool_calls"])
            parts += [_call(raw, span, len(lists) - 1) for span in calls]
        if is_object(message.raw("function_call")):
            parts.append(_legacy_call(raw, message.fields["function_call"]))
    return Shape(role, tuple(sorted(parts, key=lambda part: part.span)), tuple(lists), native)


def _result(raw: bytes, message: JsonObject) -> BlockLayout:
    return result_part(
        raw,
        message.span,
        message.fields.get("content"),
        pieces_of(raw, message.list("content"), _TEXTS),
        id=message.text("tool_call_id"),
        name=message.text("name"),
    )


def _element(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    item = JsonObject(raw, span)
    kind = item.text("type")
    if kind == "text" and is_string(item.raw("text")):
        return text_part(raw, role, span, item.fields["text"], list=0)
    return plain_part(raw, role, _KINDS.get(kind, "opaque"), span, list=0)


def _reasoning(raw: bytes, message: JsonObject) -> list[BlockLayout]:
    written = [message.fields[name] for name in _REASONING if message.raw(name) not in {b"", b"null", b'""', b"[]"}]
    return [plain_part(raw, "assistant", "reasoning", span) for span in written]


def _call(raw: bytes, span: ByteSpan, list: int) -> BlockLayout:
    call = JsonObject(raw, span)
    inner = call.inner(call.first("function", "custom"))
    arguments = inner.fields.get(inner.first("arguments", "input"))
    return call_part(raw, "assistant", span, arguments, id=call.text("id"), name=inner.text("name"), list=list)


def _legacy_call(raw: bytes, span: ByteSpan) -> BlockLayout:
    call = JsonObject(raw, span)
    return call_part(raw, "assistant", span, call.fields.get("arguments"), id="", name=call.text("name"))


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": role, "content": text})


def append_text(message: bytes, text: str) -> bytes:
    """A message with a text behind its content."""
    held = msgspec.json.decode(message)
    content = held["content"]
    if isinstance(content, str):
        return msgspec.json.encode({**held, "content": f"{content}\n\n{text}"})
    return msgspec.json.encode({**held, "content": [*content, {"type": "text", "text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    return [
        *nothing_empty(conversation, beside_calls=True),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]


# what our own agent writes and reads


def write(asking: Asking) -> bytes:
    """The body of a request."""
    messages: list[Json] = [{"role": "system", "content": asking.system}] if asking.system else []
    for at, message in enumerate(asking.messages):
        written = _messages(message, at)
        if messages and messages[-1]["role"] == "user" == written[0]["role"]:  # roles alternate
            written[0]["content"] = f"{messages.pop()['content']}\n\n{written[0]['content']}"
        messages += written
    body: Json = {"model": asking.model, "messages": messages}
    if asking.tools:
        body["tools"] = [declare(tool) for tool in asking.tools]
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    body["max_completion_tokens" if find_model(asking.model).max_completion_tokens else "max_tokens"] = asking.most
    if asking.temperature is not None:
        body["temperature"] = asking.temperature
    return msgspec.json.encode(body)


def _messages(message: Message, at: int) -> list[Json]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": message.text}]
    if isinstance(message, Spoken):
        if message.native is not None and message.format == "chat":
            return [message.native]
        return [_write_spoken(message.text, message.uses, at)]
    return [
        {"role": "tool", "tool_call_id": make_call_id(one.id, at - 1, n), "content": one.text or "(empty)"}
        for n, one in enumerate(message.outcomes)
    ]


def _write_spoken(text: str, uses: tuple[ModelCall, ...], at: int) -> Json:
    message: Json = {"role": "assistant", "content": text or None}
    if uses:
        message["tool_calls"] = [_write_call(use, make_call_id(use.id, at, n)) for n, use in enumerate(uses)]
    elif not text:
        message["content"] = "…"
    return message


def _write_call(use: ModelCall, id: str) -> Json:
    arguments = msgspec.json.encode(use.arguments).decode()
    return {"id": id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


class ChatReader:
    """Calls come in pieces: the first has name and id, the others add to the arguments."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[object, Json] = {}
        self._finish = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(_USAGE.collect(event))
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            return ""
        self._finish = str(choice.get("finish_reason") or self._finish)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        for number, piece in enumerate(delta.get("tool_calls") or []):
            if isinstance(piece, dict):
                self._piece(piece, number)
        if isinstance(thought := delta.get("reasoning_content"), str):
            self._thoughts.append(thought)
        text = delta.get("content")
        if not isinstance(text, str):
            return ""
        self._text.append(text)
        return text

    def _piece(self, piece: Json, number: int) -> None:
        """Servers that send whole calls at once leave out the index, or give all the same."""
        key: object = piece.get("index", number)
        known = self._calls.get(key)
        if known is not None and piece.get("id") and known["id"] not in {"", piece["id"]}:
            key = len(self._calls) + 1000
            known = None
        if known is None:
            known = self._calls[key] = {"id": "", "name": "", "arguments": ""}
        inner = piece.get("function")
        inner = inner if isinstance(inner, dict) else {}
        known["id"] = known["id"] or str(piece.get("id") or "")
        known["name"] += str(inner.get("name") or "")
        arguments = inner.get("arguments")
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode()
        known["arguments"] += arguments or ""

    def close(self) -> ModelAnswer:
        truncated = self._finish == "length" or (not self._finish and bool(self._calls))
        uses = []
        for call in self._calls.values():
            arguments, broken = decode_arguments(call["arguments"], truncated=truncated)
            uses.append(ModelCall(call["name"], arguments, call["id"], broken))
        text = "".join(self._text)
        native = None
        if all(use.id for use in uses):
            native = _write_spoken(text, tuple(uses), 0)
            if self._thoughts and uses:
                native["reasoning_content"] = "".join(self._thoughts)
        return ModelAnswer(text, tuple(uses), truncated, native, _USAGE.record(self._counters, False))


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece, as events."""
    choices = answer.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            yield {**answer, "choices": [{**choice, "delta": choice.get("message")}]}


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def chunk(delta: Json, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event_of(msgspec.json.encode({"id": "c", "choices": [choice], **more}))

    for start in range(0, len(heard.text), 40):
        yield chunk({"role": "assistant", "content": heard.text[start : start + 40]})
    for number, use in enumerate(heard.uses):
        call = _write_call(use, make_call_id(use.id, 0, number))
        written = call["function"]["arguments"]
        call["function"]["arguments"] = written[:20]
        yield chunk({"tool_calls": [{"index": number, **call}]})
        yield chunk({"tool_calls": [{"index": number, "function": {"arguments": written[20:]}}]})
    finish = "tool_calls" if heard.uses else "stop"
    if heard.truncated:
        finish = "length"
    usage = heard.usage or Usage()
    counted = {"prompt_tokens": usage.prompt, "completion_tokens": usage.output}
    yield chunk({}, finish, usage={**counted, "prompt_tokens_details": {"cached_tokens": usage.cache_read}})
    yield event_of(b"[DONE]")


# calls that a model writes as text


def chat_call(call: PromptedCall, answer: str, number: int) -> dict[str, Any]:
    """A call in chat completions."""
    arguments = msgspec.json.encode(call.arguments).decode()
    return {
        "id": call_id("call", answer, number),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def rewrite(answer: Json, tools: Sequence[PromptedTool]) -> list[WrittenText] | None:
    """A whole answer whose text holds calls, with real ones instead; None when it is no answer."""
    if not isinstance(answer.get("choices"), list):
        return None
    texts: list[WrittenText] = []
    for choice in answer["choices"]:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            continue
        texts.append(read_text(message["content"], tools, choice.get("finish_reason") == "length"))
        outcome = texts[-1].outcome
        if outcome.calls:
            message["content"] = outcome.text if outcome.text.strip() else None
            name = f"{answer.get('id')}/{choice.get('index', 0)}"
            message["tool_calls"] = [chat_call(call, name, number) for number, call in enumerate(outcome.calls)]
            choice["finish_reason"] = "tool_calls"
    return texts


class ChatStream(DownStream):
    """Chat completions: one parser for each choice. Only an answer of one choice can be asked for again."""

    def __init__(self, tools: Sequence[PromptedTool], retries: int = 0) -> None:
        super().__init__(tools, retries)
        self._parsers: dict[int, CallParser] = {}
        self._id: object = None

    def resume(self) -> bytes:
        self._parsers.clear()
        return super().resume()

    def _rewrite(self, raw: bytes, event: dict[str, Any]) -> bytes:
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return raw
        self._id = event.get("id") if self._id is None else self._id
        out = []
        for choice in choices:
            if isinstance(choice, dict):
                out += self._choice({**event, "id": self._id} if "id" in event else event, choice)
        return b"".join(out)

    def _choice(self, event: dict[str, Any], choice: dict[str, Any]) -> list[bytes]:
        index = choice.get("index", 0)
        if index:
            self._retries = 0
        parser = self._parsers.setdefault(index, CallParser(self._tools))
        delta = dict(choice["delta"]) if isinstance(choice.get("delta"), dict) else {}
        if self._resumed:
            delta.pop("role", None)  # said before; clients put such words together
        out = []
        if isinstance(delta.get("content"), str):
            self._written += delta["content"]
            delta["content"] = self._apart(parser.feed(delta["content"]))
        finish = choice.get("finish_reason")
        if finish is None:
            idle = delta.get("content", "") == "" and not any(delta[key] for key in delta if key != "content")
            return [] if idle else [self._chunk(event, choice, delta, None)]
        outcome = parser.close(truncated=finish == "length")
        self._judge(outcome, truncated=finish == "length")
        text = (delta.pop("content", None) or "") + self._apart(outcome.text)
        if text or delta:
            out.append(self._chunk(event, choice, {**delta, "content": text} if text else delta, None))
        name = f"{event.get('id')}/{index}"
        for number, call in enumerate(outcome.calls):
            written = {"index": number, **chat_call(call, name, number)}
            out.append(self._chunk(event, choice, {"tool_calls": [written]}, None))
        return [*out, self._chunk(event, choice, {}, "tool_calls" if outcome.calls else finish)]

    @staticmethod
    def _chunk(event: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any], finish: object) -> bytes:
        new = {**event, "choices": [{**choice, "delta": delta, "finish_reason": finish}]}
        if finish is None:
            new.pop("usage", None)
        return event_of(msgspec.json.encode(new))


# the facts

_FREE: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def declare(tool: Offer) -> Json:
    """A tool as requests declare it."""
    function = {"name": tool.name, "description": tool.about, "parameters": tool.schema}
    return {"type": "function", "function": function}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; a custom one takes any text."""
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, Mapping):
            continue
        inner = next((tool[key] for key in ("function", "custom") if isinstance(tool.get(key), Mapping)), tool)
        schema = inner.get("parameters")
        is_free = schema is None and tool.get("type") == "custom"
        if is_free:
            schema = _FREE
        if isinstance(name := inner.get("name"), str):
            about = str(inner.get("description") or "")
            yield DeclaredTool(name, about, schema if isinstance(schema, Mapping) else {}, is_free)


def question(model: str, text: str, tool: Offer, most: int) -> bytes:
    """A request with one tool."""
    messages = [{"role": "user", "content": text}]
    body = {"model": model, "max_tokens": most, "messages": messages, "tools": [declare(tool)]}
    return msgspec.json.encode(body)


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts, and names and arguments of calls."""
    found: list[object] = []
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta") if isinstance(choice, Mapping) else None
        if not isinstance(delta, Mapping):
            continue
        found += [delta.get(name) for name in ("content", "reasoning_content", "reasoning")]
        for call in delta.get("tool_calls") or []:
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                found += [function.get("name"), function.get("arguments")]
    return "".join(text for text in found if isinstance(text, str))


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": None}})


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it."""
    if not counters.keys() & {"prompt_tokens", "completion_tokens"}:
        return None
    prompt = first_of(counters, "prompt_tokens")
    read = min(first_of(counters, "cached_tokens", "prompt_cache_hit_tokens"), prompt)
    written = min(first_of(counters, "cache_write_tokens"), prompt - read)
    return Usage(prompt - read - written, read, written, first_of(counters, "completion_tokens"))


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    return {"authorization": f"Bearer {key}"} if key else {}


_USAGE: Final = UsageFields(
    report="usage",
    details={"prompt_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"})},
    output=("completion_tokens",),
    record=record,
)
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

FORMAT: Final = ProviderFormat(
    name="chat",
    provider="openai",
    messages=("messages",),
    pinned=("tools", "functions"),
    shape=shape,
    compose=compose,
    faults=faults,
    append_text=append_text,
    session=(
        ("prompt_cache_key",),
        ("metadata", "user_id"),
        ("metadata", "session_id"),
        ("metadata", "conversation_id"),
        ("metadata", "thread_id"),
    ),
    thinking=(
        ThinkingField(("thinking", "budget_tokens")),
        ThinkingField(("reasoning", "effort"), words=True),
        ThinkingField(("reasoning_effort",), words=True),
    ),
    output_limits=(("max_tokens",), ("max_completion_tokens",)),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    usage=_USAGE,
    refusals=Refusals(write=refuse, too_long=_TOO_LONG),
    # OpenAI and its like (Azure, Groq, vLLM), Mistral, the IETF draft and OpenRouter.
    limits={
        "tokens": (
            "x-ratelimit-limit-tokens",
            "x-ratelimitbysize-limit-minute",
            "x-ratelimit-limit-tokens-minute",
        ),
        "tokens_left": (
            "x-ratelimit-remaining-tokens",
            "x-ratelimitbysize-remaining-minute",
            "x-ratelimit-remaining-tokens-minute",
        ),
        "tokens_reset": ("x-ratelimit-reset-tokens",),
        "requests": ("x-ratelimit-limit-requests", "x-ratelimit-limit", "ratelimit-limit"),
        "requests_left": ("x-ratelimit-remaining-requests", "x-ratelimit-remaining", "ratelimit-remaining"),
        "requests_reset": ("x-ratelimit-reset-requests", "x-ratelimit-reset", "ratelimit-reset"),
    },
    counts_cached=lambda model: True,
    address=Address(
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
