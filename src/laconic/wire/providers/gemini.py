"""Gemini's generateContent: parts of contents, calls that may lack an id, signatures on thoughts and calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from laconic.wire.content import JsonObject, call_part, plain_part, result_part, text_part
from laconic.wire.model import Block, BlockElement, BlockLayout, Fault, Role, Shape
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.provider_format import Address, DeclaredTool, ProviderFormat, Refusals, ThinkingField
from laconic.wire.rules import check_paired, ends_answerable, nothing_empty, starts_with_user
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
)
from laconic.wire.sse import event_of
from laconic.wire.usage import Counters, Usage, UsageFields, first_of

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool", "system": "system"}
_IMAGES: Final = ("inlineData", "inline_data", "fileData", "file_data")
_HOSTED: Final = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")


def shape(raw: bytes) -> Shape:
    """One element of `contents`."""
    content = JsonObject(raw)
    native = content.text("role")
    role = _ROLES.get(native, "user")
    parts = tuple(_part(raw, role, span) for span in content.list("parts"))
    if parts and all(part.kind == "result" for part in parts):
        role = "tool"
    return Shape(role, parts, (content.fields["parts"],) if is_array(content.raw("parts")) else (), native)


def _part(raw: bytes, role: Role, span: ByteSpan) -> BlockLayout:
    part = JsonObject(raw, span)
    call, response = part.first("functionCall", "function_call"), part.first("functionResponse", "function_response")
    if is_object(part.raw(call)):
        return _call(raw, role, part, part.inner(call))
    if is_object(part.raw(response)):
        return _response(raw, span, part.inner(response))
    if part.raw("thought") == b"true":
        return plain_part(raw, role, "thinking", span, list=0)
    if is_string(part.raw("text")):
        return text_part(raw, role, span, part.fields["text"], list=0, fixed=_is_signed_part(part))
    if any(name in part.fields for name in _IMAGES):
        return plain_part(raw, role, "image", span, list=0)
    return plain_part(raw, role, "server" if any(name in part.fields for name in _HOSTED) else "opaque", span, list=0)


def _call(raw: bytes, role: Role, part: JsonObject, inner: JsonObject) -> BlockLayout:
    """A signed call is never edited: its signature speaks for what it is."""
    made = call_part(
        raw, role, part.span, inner.fields.get("args"), id=inner.text("id"), name=inner.text("name"), list=0
    )
    return msgspec.structs.replace(made, fixed=True) if _is_signed_part(part) else made


def _is_signed_part(part: JsonObject) -> bool:
    return bool(part.raw("thoughtSignature") or part.raw("thought_signature"))


def _response(raw: bytes, span: ByteSpan, inner: JsonObject) -> BlockLayout:
    """A result is an object; where it holds one text, that is what we read and replace."""
    fields = inner.inner("response")
    values = list(fields.fields.values())
    single = len(values) == 1 and is_string(values[0].of(raw))
    return result_part(
        raw,
        span,
        inner.fields.get("response"),
        (BlockElement(fields.span, values[0]),) if single else (),
        id=inner.text("id"),
        name=inner.text("name"),
        error="error" in fields.fields,
        list=0,
    )


def compose(role: str, text: str) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]})


def append_text(message: bytes, text: str) -> bytes:
    """A content with a text behind all of its parts."""
    held = msgspec.json.decode(message)
    return msgspec.json.encode({**held, "parts": [*held["parts"], {"text": text}]})


def faults(conversation: ParsedRequest) -> list[Fault]:
    """What the API would refuse."""
    found = [
        *starts_with_user(conversation),
        *nothing_empty(conversation),
        *check_paired(conversation, adjacent=True),
        *ends_answerable(conversation, prefill=True),
    ]
    for before, turn in zip(conversation.turns, conversation.turns[1:], strict=False):
        if turn.role == "assistant" == before.role and any(block.kind == "call" for block in turn.blocks):
            found.append(Fault("order", turn.index, "a call must follow a user turn or the results of other calls"))
    for turn in conversation.turns:
        calls = [block for block in turn.blocks if block.kind == "call"]
        if any(is_signed(call) for call in calls[1:]) and not is_signed(calls[0]):
            found.append(Fault("thinking", turn.index, "the first call of the turn has lost its signature"))
    return found


def is_signed(block: Block) -> bool:
    """Whether a part carries a thought signature."""
    return _is_signed_part(JsonObject(block.raw))


# what our own agent writes and reads


def write(asking: Asking) -> bytes:
    """The body of a request; the model stands in its address."""
    body: Json = {}
    if asking.system:
        body["systemInstruction"] = {"parts": [{"text": asking.system}]}
    if asking.tools:
        declared = [declare_function(tool) for tool in asking.tools]
        body["tools"] = [{"functionDeclarations": declared}]
    contents: list[Json] = []
    for message in asking.messages:
        written = _content(message)
        if contents and contents[-1]["role"] == written["role"]:  # roles alternate
            contents[-1] = {**written, "parts": [*contents[-1]["parts"], *written["parts"]]}
        else:
            contents.append(written)
    body["contents"] = contents
    body["generationConfig"] = {"maxOutputTokens": asking.most}
    if asking.temperature is not None:
        body["generationConfig"]["temperature"] = asking.temperature
    return msgspec.json.encode(body)


def _content(message: Message) -> Json:
    if isinstance(message, UserMessage):
        return {"role": "user", "parts": [{"text": message.text}]}
    if isinstance(message, Spoken):
        if message.native is not None and message.format == "gemini":
            return message.native
        return _write_spoken(message.text, message.uses)
    parts = []
    for one in message.outcomes:
        response: Json = {"name": one.name, "response": {"error" if one.failed else "output": one.text or "(empty)"}}
        parts.append({"functionResponse": {"id": one.id, **response} if one.id else response})
    return {"role": "user", "parts": parts}


def _write_spoken(text: str, uses: tuple[ModelCall, ...]) -> Json:
    parts: list[Json] = [{"text": text}] if text.strip() else []
    parts += [{"functionCall": _write_call(use)} for use in uses]
    return {"role": "model", "parts": parts or [{"text": "…"}]}


def _write_call(use: ModelCall) -> Json:
    call: Json = {"name": use.name, "args": use.arguments}
    return {"id": use.id, **call} if use.id else call


class ContentReader:
    """Calls come whole. Parts are kept as they are; texts without a signature grow together."""

    def __init__(self) -> None:
        self._parts: list[Json] = []
        self._finish = ""
        self._counters: dict[str, int] = {}

    def event(self, event: Json) -> str:
        self._counters.update(_USAGE.collect(event))
        candidates = event.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else {}
        if not isinstance(candidate, dict):
            return ""
        self._finish = str(candidate.get("finishReason") or self._finish)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else []
        return "".join(self._part(part) for part in parts or [] if isinstance(part, dict))

    def _part(self, part: Json) -> str:
        text = part.get("text")
        plain = isinstance(text, str) and not part.get("thought")
        last = self._parts[-1] if self._parts else {}
        if plain and set(part) == {"text"} and set(last) == {"text"}:
            self._parts[-1] = {"text": last["text"] + text}
        elif part != {"text": ""}:
            self._parts.append(part)
        return str(text) if plain else ""

    def close(self) -> ModelAnswer:
        uses = []
        truncated = self._finish in {"MAX_TOKENS", "MALFORMED_FUNCTION_CALL"} or not self._finish
        for part in self._parts:
            call = part.get("functionCall") or part.get("function_call")
            if isinstance(call, dict):
                given = call.get("args")
                arguments, broken = (given, "") if isinstance(given, dict) else ({}, "arguments" if given else "")
                uses.append(ModelCall(str(call.get("name")), arguments, str(call.get("id") or ""), broken))
        if self._finish == "MALFORMED_FUNCTION_CALL" and not uses:
            uses.append(ModelCall("", {}, "", "not-json"))
            self._parts.append({"functionCall": {"name": "unknown", "args": {}}})
        text = "".join(
            part["text"] for part in self._parts if isinstance(part.get("text"), str) and not part.get("thought")
        )
        native = {"role": "model", "parts": self._parts} if self._parts else None
        return ModelAnswer(
            text, tuple(uses), truncated and bool(self._parts), native, _USAGE.record(self._counters, False)
        )


def whole(answer: Json) -> Iterator[Json]:
    """An answer in one piece is an event already."""
    yield answer


def express(heard: ModelAnswer) -> Iterator[bytes]:
    """The stream of a provider."""

    def chunk(parts: list[Json], **more: Any) -> bytes:
        content = {"role": "model", "parts": parts}
        return event_of(msgspec.json.encode({"candidates": [{"content": content, "index": 0, **more}]}))

    for start in range(0, len(heard.text), 40):
        yield chunk([{"text": heard.text[start : start + 40]}])
    if heard.uses:
        yield chunk([{"functionCall": _write_call(use)} for use in heard.uses])
    usage = heard.usage or Usage()
    candidate: Json = {"content": {"role": "model", "parts": [{"text": ""}]}}
    candidate["finishReason"] = "MAX_TOKENS" if heard.truncated else "STOP"
    counted = {"promptTokenCount": usage.prompt, "candidatesTokenCount": usage.output}
    counted["cachedContentTokenCount"] = usage.cache_read
    yield event_of(msgspec.json.encode({"candidates": [candidate], "usageMetadata": counted}))


# the facts


def declare_function(tool: Offer) -> Json:
    """A function, as groups of them hold it."""
    return {"name": tool.name, "description": tool.about, "parameters": tool.schema}


def declare(tool: Offer) -> Json:
    """A tool as requests declare it: a group of one."""
    return {"functionDeclarations": [declare_function(tool)]}


def read_tools(tools: object) -> Iterator[DeclaredTool]:
    """The tools of a request; they come in groups."""
    for group in tools if isinstance(tools, list) else []:
        if not isinstance(group, Mapping):
            continue
        declared = group.get("functionDeclarations", group.get("function_declarations"))
        for tool in declared if isinstance(declared, list) else []:
            if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str):
                schema = tool.get("parameters")
                about = str(tool.get("description") or "")
                yield DeclaredTool(name, about, schema if isinstance(schema, Mapping) else {})


def extend_system(given: object, text: str) -> bytes:
    """The system prompt with a text behind it."""
    parts = given.get("parts") if isinstance(given, Mapping) else None
    before = parts if isinstance(parts, list) else []
    return msgspec.json.encode({"parts": [*before, {"text": text}]})


def spoken_text(event: Mapping[str, Any]) -> str:
    """Words, thoughts and arguments of calls."""
    found: list[str] = []
    candidates = event.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else []:
        content = candidate.get("content") if isinstance(candidate, Mapping) else None
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, Mapping):
                call = part.get("functionCall")
                found.append(str(part.get("text") or ""))
                found.append(str(call.get("args", "")) if isinstance(call, Mapping) else "")
    return "".join(found)


def refuse(status: int, message: str) -> bytes:
    """An error of ours."""
    kind = _ERRORS.get(status, "UNAVAILABLE")
    return msgspec.json.encode({"error": {"code": status, "message": message, "status": kind}})


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it. Thoughts are counted apart."""
    if not counters.keys() & {"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"}:
        return None
    prompt = first_of(counters, "promptTokenCount") + first_of(counters, "toolUsePromptTokenCount")
    read = min(first_of(counters, "cachedContentTokenCount"), prompt)
    output = first_of(counters, "candidatesTokenCount") + first_of(counters, "thoughtsTokenCount")
    return Usage(input=prompt - read, cache_read=read, output=output)


def headers(key: str) -> dict[str, str]:
    """What our own requests carry."""
    return {"x-goog-api-key": key} if key else {}


def _escape(name: str) -> str:
    return re.sub(rb"[^\w./~-]", lambda sign: b"%%%02X" % sign[0][0], name.encode()).decode()


def url(base: str, model: str) -> str:
    """Where our own requests go."""
    return f"{base}/v1beta/models/{_escape(model)}:streamGenerateContent?alt=sse"


_ERRORS: Final = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 413: "INVALID_ARGUMENT"}
_USAGE: Final = UsageFields(
    report="usageMetadata",
    details={},
    output=("candidatesTokenCount",),
    record=record,
)

FORMAT: Final = ProviderFormat(
    name="gemini",
    provider="gemini",
    messages=("contents",),
    pinned=("tools", "systemInstruction", "system_instruction"),
    shape=shape,
    compose=compose,
    faults=faults,
    append_text=append_text,
    system=("systemInstruction", "system_instruction"),
    extend_system=extend_system,
    thinking=(ThinkingField(("generationConfig", "thinkingConfig", "thinkingBudget")),),
    output_limits=(("generationConfig", "maxOutputTokens"),),
    declare=declare,
    read_tools=read_tools,
    spoken_text=spoken_text,
    usage=_USAGE,
    refusals=Refusals(
        write=refuse,
        too_long=(re.compile(r"input token count \(?(?P<sent>\d+)\)? exceeds.{0,40}?allowed \(?(?P<most>\d+)"),),
    ),
    counts_cached=lambda model: True,
    address=Address(
        path=re.compile(r"/models/([\w.-]+):(?:streamGenerateContent|generateContent)"),
        own_paths=re.compile(r"/v1(?:beta|alpha)"),
        own_headers=frozenset({"x-goog-api-key"}),
        key_starts=("AIza", "AQ.", "ya29."),
        url=url,
        headers=headers,
        variables=("GOOGLE_GEMINI_BASE_URL",),
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    dialect=ProviderDialect(write, ContentReader, whole, express),
)
