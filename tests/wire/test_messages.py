"""An agent speaks every provider's words: what it writes is valid, and what is streamed to it is read whole."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import ModelError
from laconic.wire.answer_reader import AnswerReader
from laconic.wire.formats import FORMATS, dialect_of
from laconic.wire.messages import (
    AssistantMessage,
    CallResult,
    Message,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    ProviderDialect,
    ToolDefinition,
    ToolResults,
    UserMessage,
)
from laconic.wire.parsed_request import parse
from laconic.wire.prompted_tool_calls.protocol import tools_of, upward
from laconic.wire.usage import Usage

OFFER = ToolDefinition("read", "Show lines", {"type": "object", "properties": {"path": {"type": "string"}}})
DIALECTS = {name: dialect_of(format) for name, format in FORMATS.items() if format.dialect is not None}
NAMES = {dialect: name for name, dialect in DIALECTS.items()}
DIALECT = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
texts = st.text(max_size=120).map(str.strip)
values = st.one_of(st.integers(-1000, 1000), texts, st.lists(texts, max_size=3))
uses = st.lists(
    st.builds(ModelCall, st.sampled_from(["read", "edit"]), st.dictionaries(texts, values, max_size=3)), max_size=3
)
answers = st.builds(ModelAnswer, texts, uses.map(tuple), st.booleans()).filter(lambda heard: heard.text or heard.uses)


def _listened(dialect: ProviderDialect, stream: bytes, size: int) -> tuple[str, ModelAnswer]:
    listener = AnswerReader(dialect, streamed=True)
    seen = "".join(listener.feed(stream[at : at + size]) for at in range(0, len(stream), size))
    return seen, listener.close()


@pytest.mark.parametrize("name", DIALECTS)
@given(said=answers, size=st.integers(1, 400))
def test_an_answer_is_read_as_it_was_said_however_it_is_cut(name: str, said: ModelAnswer, size: int) -> None:
    dialect = DIALECTS[name]
    given_ids = tuple(msgspec.structs.replace(use, id=f"id{n}") for n, use in enumerate(said.uses))
    said = msgspec.structs.replace(said, uses=given_ids, usage=Usage(7, 2, 0, 5))
    seen, heard = _listened(dialect, b"".join(dialect.express(said)), size)
    assert (seen, heard.text, heard.truncated) == (said.text, said.text, said.truncated)
    assert heard.usage == Usage(7, 2, 0, 5)
    assert [(use.name, use.arguments, use.id) for use in heard.uses] == [
        (use.name, use.arguments, use.id) for use in given_ids
    ]


def _talk(*, native: bool, dialect: ProviderDialect) -> tuple[Message, ...]:
    use = ModelCall("read", {"path": "a.py"})
    first = AssistantMessage("Let me look.", (use, use))
    if native:
        _, heard = _listened(dialect, b"".join(dialect.express(ModelAnswer(first.text, first.uses))), 50)
        first = AssistantMessage(heard.text, heard.uses, heard.native, NAMES[dialect])
    ids = [use.id for use in first.uses]
    done = ToolResults(
        (CallResult("read", "1\tx = 1", ids[0]), CallResult("read", "no such file", ids[1], failed=True))
    )
    return (UserMessage("Mend it."), first, done, AssistantMessage("It is mended."), UserMessage("Thanks; now b.py."))


@pytest.mark.feature("P7")
@DIALECT
@pytest.mark.parametrize("native", [True, False], ids=["its own words", "another provider's"])
def test_a_conversation_is_written_so_that_the_provider_takes_it(dialect: ProviderDialect, native: bool) -> None:
    """Calls stand beside their results, in the form that each provider wants; also after a change of provider."""
    body = dialect.write(ModelRequest("m", "Be brief.", (OFFER,), _talk(native=native, dialect=dialect), 500))
    talk = parse(FORMATS[NAMES[dialect]], body)
    assert talk.faults() == []
    (exchange,) = talk.exchanges
    assert [call.name for call in exchange.calls] == ["read", "read"]
    assert [result.text for result in exchange.results if result] == ["1\tx = 1", "no such file"]
    assert [tool.name for tool in tools_of(talk)] == ["read"]


@pytest.mark.feature("P2", "P7")
@DIALECT
def test_without_function_calling_the_same_conversation_holds_marked_texts(dialect: ProviderDialect) -> None:
    body = dialect.write(ModelRequest("m", "Be brief.", (OFFER,), _talk(native=True, dialect=dialect), 500))
    talk = parse(FORMATS[NAMES[dialect]], upward(parse(FORMATS[NAMES[dialect]], body)))
    assert talk.faults() == []
    assert "tools" not in talk.fields
    assert not talk.exchanges
    said = [block.text for turn in talk.turns for block in turn.blocks]
    assert any('```tool\n{"name":"read","arguments":{"path":"a.py"}}\n```' in text for text in said)
    assert any("[read " in text and "no such file" in text for text in said)
    assert b"Show lines" in talk.body


CALLS = {
    "chat": {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "edit"}}]}}]},
    "anthropic": {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "x", "name": "edit", "input": {}},
    },
}
PIECES = {
    "chat": {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"text": "ha'}}]}}]},
    "anthropic": {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": '{"text": "ha'},
    },
}


@pytest.mark.feature("P3")
@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_were_cut_off_are_marked_and_never_mended(name: str) -> None:
    reader = DIALECTS[name].reader()
    reader.event(json.loads(json.dumps(CALLS[name])))
    reader.event(json.loads(json.dumps(PIECES[name])))
    (use,) = reader.close().uses
    assert (use.name, use.arguments, use.broken) == ("edit", {}, "truncated")


WHOLE: dict[str, dict[str, Any]] = {
    "chat": {
        "choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    },
    "anthropic": {
        "content": [{"type": "text", "text": "Yes."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 1},
    },
    "gemini": {
        "candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1},
    },
}


@DIALECT
def test_an_answer_in_one_piece_is_read_too(dialect: ProviderDialect) -> None:
    listener = AnswerReader(dialect, streamed=False)
    listener.feed(json.dumps(WHOLE[NAMES[dialect]]).encode())
    heard = listener.close()
    assert (heard.text, heard.truncated, heard.usage) == ("Yes.", False, Usage(5, 0, 0, 1))


@DIALECT
@pytest.mark.parametrize("junk", [b"", b"<html>login</html>", b"data: nonsense\n\n", b"\xff\x00" * 50, b"[[[["])
@pytest.mark.parametrize("streamed", [True, False])
def test_what_is_no_answer_is_a_named_failure(dialect: ProviderDialect, junk: bytes, streamed: bool) -> None:
    listener = AnswerReader(dialect, streamed=streamed)
    with pytest.raises(ModelError):
        listener.feed(junk)
        listener.close()


def test_signatures_and_thoughts_return_as_they_came() -> None:
    """Gemini's signature on a call, Anthropic's on a thought: the next request holds them unchanged."""
    part = {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "c2ln"}
    reader = DIALECTS["gemini"].reader()
    reader.event({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})
    heard = reader.close()
    body = DIALECTS["gemini"].write(
        ModelRequest("m", "", (), (UserMessage("x"), AssistantMessage("", heard.uses, heard.native, "gemini")), 10)
    )
    assert json.loads(body)["contents"][1]["parts"] == [part]
    reader = DIALECTS["anthropic"].reader()
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    reader.event({"type": "content_block_start", "index": 0, "content_block": thought})
    reader.event({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}})
    reader.event({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "Eq"}})
    reader.event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    native = reader.close().native
    assert native is not None
    assert native["content"] == [{"type": "thinking", "thinking": "hm", "signature": "Eq"}]
