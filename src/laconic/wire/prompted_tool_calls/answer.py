"""The way down, whole answers: the text of a model becomes the calls that its client understands."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import value
from laconic.wire.prompted_tool_calls.calls import BrokenCall, PromptedTool, UnusableCalls
from laconic.wire.prompted_tool_calls.parser import CallParser, ParsedAnswer
from laconic.wire.provider_format import ProviderFormat


class ConvertedAnswer(msgspec.Struct, frozen=True):
    """An answer as the client gets it, and what was wrong with its calls."""

    body: bytes
    broken: tuple[BrokenCall, ...] = ()
    nonsense: UnusableCalls | None = None  # none of the calls can be used, and the model was not cut off


def convert_answer(format: ProviderFormat, body: bytes, tools: Sequence[PromptedTool]) -> ConvertedAnswer:
    """The answer with calls instead of text; an answer of another form (an error, say) stays as it is."""
    try:
        answer = value(body)
    except MalformedRequest:
        return ConvertedAnswer(body)
    if isinstance(answer, dict) and format.written_calls:
        texts = format.written_calls.rewrite(answer, tools)
    else:
        texts = None
    if texts is None:
        return ConvertedAnswer(body)
    broken = tuple(one for text in texts for one in text.outcome.broken)
    alone = texts[0] if len(texts) == 1 else None
    useless = alone is not None and alone.outcome.useless and not alone.truncated
    if alone is not None and useless:
        nonsense = UnusableCalls(alone.written, broken)
    else:
        nonsense = None
    return ConvertedAnswer(msgspec.json.encode(answer), broken, nonsense)


class WrittenText(msgspec.Struct, frozen=True):
    """One text of a model, read."""

    written: str
    truncated: bool
    outcome: ParsedAnswer


def call_id(prefix: str, answer: str, number: int) -> str:
    """An id that is the same whenever the same answer is read."""
    return f"{prefix}_{sha256(f'{answer}/{number}'.encode()).hexdigest()[:24]}"


def read_text(text: str, tools: Sequence[PromptedTool], truncated: bool) -> WrittenText:
    """The calls in a text of a model."""
    parser = CallParser(tools)
    passed = parser.feed(text)
    outcome = parser.close(truncated=truncated)
    return WrittenText(text, truncated, ParsedAnswer(passed + outcome.text, outcome.calls, outcome.broken))
