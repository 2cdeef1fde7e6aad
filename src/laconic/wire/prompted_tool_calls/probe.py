"""What shows whether a model has function calling: what its provider lists, and its answer to a harmless question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from laconic.wire.formats import format_named
from laconic.wire.json_spans import read_object
from laconic.wire.json_values import as_list, objects_in
from laconic.wire.messages import ToolDefinition
from laconic.wire.refusals import refuses_tools

_SCHEMA: Final = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
_ABOUT: Final = "Says a word. It has no effect."
_ASK: Final = "Call the tool `say` with the word `hello`."
_ROOM: Final = 512  # tokens: enough for a short thought and the call


def question(format: str, model: str) -> bytes:
    """A request that a model with function calling answers with one call, which nobody runs."""
    calls = format_named(format).written_calls
    assert calls is not None
    return calls.question(model, _ASK, ToolDefinition("say", _ABOUT, _SCHEMA), _ROOM)


def read_answer(status: int, body: bytes) -> str:
    """What the answer to the question shows: `native`, `prompted`, or nothing."""
    if refuses_tools(status, body):
        return "prompted"
    answer = read_object(body)
    if status != 200 or not answer:
        return ""
    if any(_is_call(part) for part in _parts(answer)):
        return "native"
    parts = [answer, *objects_in(answer.get("choices"))]
    ends = set()
    for part in parts:
        ends.add(str(part.get("finish_reason") or part.get("stop_reason") or part.get("status")))
    # cut off in the middle of a thought: nobody knows
    if ends & {"length", "max_tokens", "incomplete", "failed"}:
        return ""
    return "prompted"


def read_listing(body: bytes, model: str) -> str:
    """What a provider's list of models says of one: OpenRouter, Mistral and those that do as they do."""
    listed = read_object(body).get("data")
    for entry in as_list(listed):
        if isinstance(entry, Mapping) and model in (entry.get("id"), entry.get("name")):
            return _read_entry(entry)
    return ""


def read_description(body: bytes) -> str:
    """What Ollama's description of one model says."""
    return _read_entry(read_object(body))


def _read_entry(entry: Mapping[str, Any]) -> str:
    able = entry.get("capabilities")
    if isinstance(able, Mapping) and isinstance(able.get("function_calling"), bool):
        if able["function_calling"]:
            return "native"
        return "prompted"
    for words in (able, entry.get("supported_parameters")):
        if isinstance(words, list) and words:
            if "tools" in words:
                return "native"
            return "prompted"
    return ""


def _parts(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for choice in objects_in(answer.get("choices")):
        if isinstance(choice.get("message"), Mapping):
            yield choice["message"]
    for content in (answer.get("content"), answer.get("output")):
        yield from (block for block in content if isinstance(block, Mapping)) if isinstance(content, list) else ()


def _is_call(part: Mapping[str, Any]) -> bool:
    return bool(part.get("tool_calls")) or part.get("type") in {"tool_use", "function_call"}
