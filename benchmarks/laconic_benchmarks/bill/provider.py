"""A provider that bills: it follows a scenario in three formats, with a prompt cache by the rules of each."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec
from backports import zstd

from laconic.conversation.simulated_cache import CacheBlock, ProviderCache
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.models.find_model import find_model
from laconic.models.model import Price
from laconic.tokens.count import counter
from laconic.wire.cache_rules import FIVE_MINUTES, HOUR
from laconic.wire.content import without_marks
from laconic.wire.formats import FORMATS, format_named
from laconic.wire.json_spans import elements, is_array
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.usage import Usage
from laconic_benchmarks.bill.clients import PROMPT
from laconic_benchmarks.bill.scenarios import Scenario

Json = dict[str, object]
DONE: Final = "All files were shown."
_OUTPUT: Final = 40  # tokens of every answer
_DIFFERENCE: Final = 1.07  # by which a provider's count differs from an estimate of it
_FRAME: Final = 4  # tokens around every block
_SHOWN: Final = re.compile(r"file_(\d+)\.txt")
_MARK: Final = b'"cache_control"'
_LONG: Final = re.compile(rb'"ttl"\s*:\s*"1h"')
_SUMMARIES: Final = ("detailed summary of the conversation", "CONTEXT CHECKPOINT COMPACTION")  # what clients ask for
_TRIGGER: Final = b'"compaction_trigger"'  # asks a provider of Responses for a summary of its own
_ATTRIBUTION: Final = b'"x-anthropic-billing-header:'  # Claude Code says who it is; the provider takes that out
_SHELLS: Final = {
    "Bash": "command",
    "bash": "command",
    "exec_command": "cmd",
    "shell_command": "command",
    "run_shell_command": "command",
}


class ProviderClock:
    """The time at the provider, which a pause moves on."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += seconds


class BillingProvider:
    """A script for a scripted upstream. What it billed is the truth about a run."""

    def __init__(self, scenario: Scenario, model: str, clock: Callable[[], float]) -> None:
        self._scenario = scenario
        self._model = model  # where a request names none
        self._count = counter(model)
        self._caches = {name: ProviderCache(known.cache, clock) for name, known in FORMATS.items()}
        self._answers = 0
        self._next = 0  # file; a client that compacts its history forgets which it has asked for
        self._prompts = 0  # of the user, which it may forget too
        self.usages: list[Usage] = []
        self.dollars = 0.0
        self.results: list[int] = []  # how many each request carried
        self.refused = 0  # requests that were longer than the model's window, for which nobody pays

    @property
    def tokens(self) -> int:
        return sum(usage.prompt for usage in self.usages)

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        format = _format_of(asked)
        if not format:
            return ScriptedAnswer((b'{"object": "list", "data": [], "models": []}',))
        raw = asked.body
        if asked.header("content-encoding") == "zstd":
            raw = zstd.decompress(raw)
        conversation = parse(format_named(format), raw)
        model = find_model(conversation.model or self._model)
        blocks = list(self._blocks(conversation))
        size = sum(block.tokens for block in blocks)
        if size > model.window > 0:
            self.refused += 1
            return ScriptedAnswer((_REFUSALS[format](size, model.window),), status=400)
        self.results.append(_count_results(conversation))
        usage = self._bill(format, blocks, model.price)
        self._answers += 1
        name = f"{self._answers:04}"
        if _TRIGGER in raw:
            return _write_compaction(usage, name)
        return _WRITERS[format](self._next_call(conversation), usage, name, _is_streamed(asked, raw))

    def _bill(self, format: str, blocks: list[CacheBlock], price: Price) -> Usage:
        usage = self._caches[format].send(blocks)
        usage = msgspec.structs.replace(usage, output=_OUTPUT)
        self.usages.append(usage)
        self.dollars += price.prompt_dollars(
            plain=usage.input, read=usage.cache_read, write=usage.cache_write, hour=usage.long
        )
        self.dollars += price.output_dollars(usage.output, usage.prompt)
        return usage

    def _blocks(self, conversation: ParsedRequest) -> Iterator[CacheBlock]:
        """The prompt in the order of the cache: tools, instructions, messages."""
        for name in conversation.format.pinned:
            field = conversation.field(name)
            if is_array(field):
                for span in elements(field):
                    if _ATTRIBUTION not in span.of(field):
                        yield self._block(span.of(field))
            elif field:
                yield self._block(field)
        for turn in conversation.turns:
            for block in turn.blocks:
                yield self._block(block.raw, turn.role)

    def _block(self, raw: bytes, role: str = "") -> CacheBlock:
        content = role.encode() + without_marks(raw)
        lifetime = 0.0
        if _MARK in raw:
            lifetime = FIVE_MINUTES
        if lifetime and _LONG.search(raw):
            lifetime = HOUR
        return CacheBlock(content, self._count_tokens(content), lifetime)

    def _count_tokens(self, content: bytes) -> int:
        """As providers do: something for each message, and not quite as we count where their tokenizer is not public."""
        tokens = self._count(content.decode("utf-8", "replace"))
        if not self._count.exact:
            tokens = round(_DIFFERENCE * tokens)
        return tokens + _FRAME

    def _next_call(self, conversation: ParsedRequest) -> tuple[str, Json] | None:
        """The command that shows the next file: the one after the file that was asked for last."""
        names = {tool.name for tool in conversation.format.read_tools(_decode(conversation.field("tools")))}
        shell = next((name for name in _SHELLS if name in names), "")
        number = max(_find_next(conversation), self._next)
        self._prompts = max(self._prompts, _count_prompts(conversation))
        last = self._prompts * len(self._scenario.files) // self._scenario.prompts
        if not shell or number >= last or _is_asked_for_summary(conversation):
            return None
        self._next = number
        arguments: Json = {_SHELLS[shell]: f"cat file_{number}.txt"}
        if shell != "exec_command":
            arguments["description"] = "show a file"
        return shell, arguments


def _find_next(conversation: ParsedRequest) -> int:
    """By the last call that is there: older ones may be left out."""
    for turn in reversed(conversation.turns):
        for block in reversed(turn.blocks):
            if block.kind == "call":
                found = _SHOWN.search(msgspec.json.encode(block.input).decode())
                if found:
                    return int(found[1]) + 1
    return 0


def _is_asked_for_summary(conversation: ParsedRequest) -> bool:
    """By the last message of the user, in which clients ask for it."""
    if not conversation.turns or conversation.turns[-1].role != "user":
        return False
    texts = [block.text for block in conversation.turns[-1].blocks if block.kind == "text"]
    return any(words in text for text in texts for words in _SUMMARIES)


def _count_prompts(conversation: ParsedRequest) -> int:
    found = 0
    for turn in conversation.turns:
        if turn.role == "user":
            found += sum(PROMPT in block.text for block in turn.blocks if block.kind == "text")
    return found


def _count_results(conversation: ParsedRequest) -> int:
    found = 0
    for turn in conversation.turns:
        found += sum(block.kind == "result" for block in turn.blocks)
    return found


def _decode(raw: bytes) -> object:
    if not raw:
        return []
    return msgspec.json.decode(raw)


def _format_of(asked: ReceivedRequest) -> str:
    """The format in which a model is asked; empty for anything else."""
    if asked.method != "POST" or "count" in asked.path.lower():
        return ""
    for part, format in (("/messages", "anthropic"), ("/responses", "responses"), ("enerateContent", "gemini")):
        if part in asked.path:
            return format
    return ""


def _is_streamed(asked: ReceivedRequest, raw: bytes) -> bool:
    return "streamGenerateContent" in asked.path or re.search(rb'"stream"\s*:\s*true', raw) is not None


Call = tuple[str, Json] | None


def _write_anthropic(call: Call, usage: Usage, name: str, is_streamed: bool) -> ScriptedAnswer:
    start: Json = {"type": "text", "text": ""}
    whole: Json = {"type": "text", "text": DONE}
    delta: Json = {"type": "text_delta", "text": DONE}
    stop: Json = {"stop_reason": "end_turn", "stop_sequence": None}
    if call is not None:
        start = {"type": "tool_use", "id": f"toolu_{name}", "name": call[0], "input": {}}
        whole = {**start, "input": call[1]}
        delta = {"type": "input_json_delta", "partial_json": msgspec.json.encode(call[1]).decode()}
        stop = {"stop_reason": "tool_use", "stop_sequence": None}
    counted = format_named("anthropic").usage.write(usage)
    message: Json = {"id": f"msg_{name}", "type": "message", "role": "assistant", "model": "m", "usage": counted}
    if not is_streamed:
        return ScriptedAnswer((msgspec.json.encode({**message, **stop, "content": [whole]}),))
    events: list[Json] = [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage.output}},
        {"type": "message_stop"},
    ]
    return _stream(events)


def _write_responses(call: Call, usage: Usage, name: str, is_streamed: bool) -> ScriptedAnswer:
    text = {"type": "output_text", "text": DONE, "annotations": []}
    item: Json = {"type": "message", "id": f"msg_{name}", "role": "assistant", "content": [text]}
    if call is not None:
        arguments = msgspec.json.encode(call[1]).decode()
        item = {"type": "function_call", "id": f"fc_{name}", "call_id": f"call_{name}"}
        item |= {"name": call[0], "arguments": arguments}
    item["status"] = "completed"
    if is_streamed:
        return _stream_item(item, usage, name)
    counted = {**format_named("responses").usage.write(usage), "total_tokens": usage.prompt + usage.output}
    response: Json = {"id": f"resp_{name}", "object": "response", "model": "m"}
    whole = {**response, "status": "completed", "output": [item], "usage": counted}
    return ScriptedAnswer((msgspec.json.encode(whole),))


def _write_compaction(usage: Usage, name: str) -> ScriptedAnswer:
    """A history that the provider itself compacted, in a form that only it can read."""
    item: Json = {"type": "compaction", "id": f"cmp_{name}", "encrypted_content": "x" * 2_000}
    return _stream_item(item, usage, name)


def _stream_item(item: Json, usage: Usage, name: str) -> ScriptedAnswer:
    counted = {**format_named("responses").usage.write(usage), "total_tokens": usage.prompt + usage.output}
    response: Json = {"id": f"resp_{name}", "object": "response", "model": "m", "output": []}
    events: list[Json] = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": counted},
        },
    ]
    return _stream(events)


def _write_gemini(call: Call, usage: Usage, name: str, is_streamed: bool) -> ScriptedAnswer:
    part: Json = {"text": DONE}
    if call is not None:
        part = {"functionCall": {"name": call[0], "args": call[1]}}
    content = {"role": "model", "parts": [part]}
    counted = {**format_named("gemini").usage.write(usage), "totalTokenCount": usage.prompt + usage.output}
    answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": counted}
    written = msgspec.json.encode(answer)
    if not is_streamed:
        return ScriptedAnswer((written,))
    return streamed([b"data: " + written + b"\n\n"])


_WRITERS: Final = {"anthropic": _write_anthropic, "responses": _write_responses, "gemini": _write_gemini}


def _refuse_anthropic(size: int, most: int) -> bytes:
    text = f"prompt is too long: {size} tokens > {most} maximum"
    return msgspec.json.encode({"type": "error", "error": {"type": "invalid_request_error", "message": text}})


def _refuse_responses(size: int, most: int) -> bytes:
    text = "Your input exceeds the context window of this model. Please adjust your input and try again."
    error = {"message": text, "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}
    return msgspec.json.encode({"error": error})


def _refuse_gemini(size: int, most: int) -> bytes:
    text = f"The input token count ({size}) exceeds the maximum number of tokens allowed ({most})."
    return msgspec.json.encode({"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}})


_REFUSALS: Final = {"anthropic": _refuse_anthropic, "responses": _refuse_responses, "gemini": _refuse_gemini}


def _stream(events: Sequence[Json]) -> ScriptedAnswer:
    written = []
    for event in events:
        written.append(b"event: " + str(event["type"]).encode() + b"\ndata: " + msgspec.json.encode(event) + b"\n\n")
    return streamed(written)
