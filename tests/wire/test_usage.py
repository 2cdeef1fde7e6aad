"""Usage is read alike from every format, whole or streamed, at any chunking."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import UsageReader, asks_for_an_hour, usage_of

WHOLE: dict[str, dict[str, Any]] = {
    "anthropic": {
        "usage": {
            "input_tokens": 3,
            "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 7,
            "cache_creation": {"ephemeral_5m_input_tokens": 7},
            "output_tokens": 5,
        }
    },
    "chat": {"usage": {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 90}}},
    "responses": {"usage": {"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 90}}},
    "gemini": {
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 90,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2,
        }
    },
}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 1}},
        },
        {"type": "content_block_delta", "delta": {"text": 'the word "usage" in a text'}},
        {"type": "message_delta", "usage": {"output_tokens": 5, "input_tokens": 0}},
    ],
    "chat": [{"choices": [{}], "usage": None}, {"choices": [], **WHOLE["chat"]}],
    "responses": [{"type": "response.created", "response": {"usage": None}}, {"response": WHOLE["responses"]}],
    "gemini": [{"usageMetadata": {"promptTokenCount": 100}}, WHOLE["gemini"]],
}


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_answer(name: str) -> None:
    found = usage_of(json.dumps(WHOLE[name]).encode())
    assert found is not None
    assert (found.prompt, found.cache_read, found.output) == (100, 90, 5)


@pytest.mark.parametrize("name", sorted(STREAMS))
@given(data=st.data())
def test_a_stream_cut_anywhere(name: str, data: st.DataObject) -> None:
    stream = b"".join(b"event: x\r\ndata: " + json.dumps(event).encode() + b"\r\n\r\n" for event in STREAMS[name])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader = UsageReader()
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        reader.feed(stream[start:end])
    found = reader.close()
    assert found is not None
    assert (found.input, found.cache_read, found.output) == (3 if name == "anthropic" else 10, 90, 5)


def test_more_cached_than_sent_is_capped() -> None:
    body = {"usage": {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}}
    assert usage_of(json.dumps(body).encode()) == Usage(0, 10, 0, 0)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"usage":null}', b'{"usage":{"input_tokens":"x"}}', b'{"usage', b'["usage"]']
)
def test_no_usage_is_none(body: bytes) -> None:
    assert usage_of(body) is None


def test_a_truncated_event_is_left_out() -> None:
    reader = UsageReader()
    reader.feed(b'data: {"usage":{"input_tokens":5}}\n\ndata: {"usage":{"output_to')
    assert reader.close() == Usage(5, 0, 0, 0)


def test_a_gemini_answer_streamed_as_an_array() -> None:
    assert usage_of(json.dumps(STREAMS["gemini"]).encode()) == Usage(10, 90, 0, 5)


def test_writes_for_an_hour_are_told_apart() -> None:
    kinds = {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 3}
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 7, "cache_creation": kinds, "output_tokens": 5}
    assert usage_of(json.dumps({"usage": usage}).encode()) == Usage(3, 0, 7, 5, long=3)
    assert usage_of(json.dumps({"usage": usage}).encode(), hour=True) == Usage(3, 0, 7, 5, long=3)
    del usage["cache_creation"]
    assert usage_of(json.dumps({"usage": usage}).encode(), hour=True) == Usage(3, 0, 7, 5, long=7)


@pytest.mark.parametrize(
    "absurd", ["1" + "0" * 400, "-5", "1e400", "1e3", "10000000001", "true", '"7"', "null", "[7]"]
)
def test_absurd_counts_are_left_out(absurd: str) -> None:
    """Numbers that no answer can have; the others of the same report count."""
    body = f'{{"usage":{{"input_tokens":{absurd},"output_tokens":5}}}}'.encode()
    assert usage_of(body) == Usage(output=5)
    reader = UsageReader()
    reader.feed(b'data: {"usage":{"input_tokens":3}}\n\ndata: ' + body + b"\n\n")
    assert reader.close() == Usage(3, output=5)


def test_a_request_says_how_long_a_cache_lives() -> None:
    """Words in a text do not count."""
    hour = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    minutes = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    spoken = {"type": "text", "text": json.dumps(hour)}

    def asks(system: object, said: object, *, turns_are_read: bool) -> bool:
        body = {"system": [system], "messages": [{"role": "user", "content": [said]}]}
        answers = set()
        for written in (json.dumps(body).encode(), msgspec.json.encode(body)):
            request = parse(format_named("anthropic"), written)
            assert not turns_are_read or request.turns
            answers.add(asks_for_an_hour(request))
        (answer,) = answers
        return answer

    for turns_are_read in (False, True):
        assert asks(hour, minutes, turns_are_read=turns_are_read)
        assert asks(minutes, hour, turns_are_read=turns_are_read)
        assert not asks(spoken, minutes, turns_are_read=turns_are_read)
        assert not asks(minutes, spoken, turns_are_read=turns_are_read)


def test_what_an_automatic_cache_writes_is_part_of_the_prompt() -> None:
    details = {"cached_tokens": 60, "cache_write_tokens": 30}
    body = {"usage": {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": details}}
    assert usage_of(json.dumps(body).encode()) == Usage(10, 60, 30, 5)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_text_that_nobody_counted_is_estimated(size: int) -> None:
    """What was said after the last report, at any chunking; a report that follows takes its place."""
    reader = UsageReader()
    said = b'data: {"choices":[{"delta":{"content":"one two three four"}}]}\n\n' * 3
    for at in range(0, len(said), size):
        reader.feed(said[at : at + size])
    assert reader.usage is None
    assert reader.so_far == Usage(output=counter()("one two three four" * 3), estimated=True)
    reader.feed(b'data: {"usage":{"prompt_tokens":9,"completion_tokens":2}}\n')
    assert reader.so_far == reader.close() == Usage(9, output=2)


def test_a_long_text_is_estimated_from_its_beginning() -> None:
    reader = UsageReader()
    for _ in range(5000):
        reader.feed(b'data: {"type":"content_block_delta","delta":{"thinking":"one two three four "}}\n')
    assert reader.so_far is not None
    assert reader.so_far.output == pytest.approx(counter()("one two three four " * 5000), rel=0.01)


def test_a_report_in_a_long_line_is_read() -> None:
    """Responses repeat the instructions, the tools and the whole answer in their last event."""
    event = {"type": "response.completed", "response": {"x": "y" * 3_000_000, "usage": {"input_tokens": 5}}}
    reader = UsageReader()
    line = b"data: " + json.dumps(event).encode() + b"\n\n"
    for at in range(0, len(line), 65_536):
        reader.feed(line[at : at + 65_536])
    assert reader.usage == Usage(5)
