"""The text that one event of a stream adds to an answer, in any format: words, thoughts and arguments of calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

_DEEPEST: Final = 6  # levels below which no format has text
_KEYS: Final = ("text", "thinking", "partial_json", "content", "reasoning_content", "reasoning", "name", "arguments")


def spoken_text(event: object) -> str:
    """What the model said in this event; what later events repeat in full is not in it."""
    if not isinstance(event, Mapping):
        return ""
    delta = event.get("delta")
    if isinstance(delta, str):  # Responses
        return delta
    return "".join(_strings([delta, *_list(event.get("choices")), *_list(event.get("candidates"))]))


def _strings(values: list[object], depth: int = 0) -> Iterator[str]:
    for value in values:
        if not isinstance(value, Mapping) or depth > _DEEPEST:
            continue
        for key in _KEYS:
            if isinstance(inner := value.get(key), str):
                yield inner
        if isinstance(call := value.get("functionCall"), Mapping):
            yield str(call.get("args", ""))
        inside = [value.get("delta"), value.get("content"), value.get("function")]
        yield from _strings([*inside, *_list(value.get("parts")), *_list(value.get("tool_calls"))], depth + 1)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
