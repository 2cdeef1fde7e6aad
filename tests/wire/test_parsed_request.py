"""The laws of reading and writing a conversation, over random histories in every format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.histories import BUILDERS, Step, histories, texts, written

from laconic.errors import ConversationError, MalformedRequest
from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import parse
from laconic.wire.turns_and_blocks import DropBlock, InsertMessage, MessageShape, SetInput, SetText

formats = st.sampled_from(sorted(BUILDERS))


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, bytes]:
    name = draw(formats)
    return name, draw(written(BUILDERS[name](draw(histories()))))


@given(bodies())
def test_an_untouched_body_leaves_byte_for_byte(case: tuple[str, bytes]) -> None:
    """And what the generator makes is valid, read alike from remembered shapes, with a key of its own for each block."""
    name, body = case
    shapes: dict[bytes, MessageShape] = {}
    conversation = parse(FORMATS[name], body, shapes)
    assert conversation.turns
    assert conversation.emit() == body
    assert conversation.faults() == []
    known = len(shapes)
    assert parse(FORMATS[name], body, shapes).turns == conversation.turns
    assert len(shapes) == known
    keys = [block.key for turn in conversation.turns for block in turn.blocks]
    assert len(keys) == len(set(keys))


@given(bodies(), st.data())
def test_a_change_touches_its_own_block_and_no_other_byte(case: tuple[str, bytes], data: st.DataObject) -> None:
    """Every other block, and all bytes before the first change, are the same."""
    name, body = case
    before = parse(FORMATS[name], body)
    editable = [block for turn in before.turns for block in turn.blocks if block.editable]
    chosen = data.draw(st.lists(st.sampled_from(editable), min_size=1, max_size=4, unique_by=lambda block: block.at))
    changes: dict[tuple[int, int], SetText | SetInput | DropBlock] = {
        block.at: SetInput({"cut": "…"}) if block.kind == "call" else SetText(data.draw(texts)) for block in chosen
    }
    after = parse(FORMATS[name], before.emit(changes))
    assert after.faults() == []
    for old, new in zip(before.turns, after.turns, strict=True):
        assert (old.role, old.native, len(old.blocks)) == (new.role, new.native, len(new.blocks))
        for left, right in zip(old.blocks, new.blocks, strict=True):
            assert (left.kind, left.id, left.name, left.error) == (right.kind, right.id, right.name, right.error)
            change = changes.get(left.at)
            if change is None:
                assert left.raw == right.raw
            elif isinstance(change, SetText):
                assert right.text == change.text
            elif isinstance(change, SetInput):
                assert right.input == change.input
    first = min(chosen, key=lambda block: block.at)
    start = before.messages[first.turn].start
    assert after.body[:start] == body[:start]


@given(bodies(), st.data())
def test_dropping_an_exchange_leaves_a_valid_smaller_conversation(
    case: tuple[str, bytes], data: st.DataObject
) -> None:
    """Calls go with all their results; what else stood in those messages stays as it was."""
    name, body = case
    before = parse(FORMATS[name], body)
    if not before.exchanges:
        return
    exchange = data.draw(st.sampled_from(before.exchanges))
    last = max(at[0] for at in exchange.members) == len(before.turns) - 1
    after = parse(FORMATS[name], before.emit({at: DropBlock() for at in exchange.members}))
    assert last or after.faults() == []
    gone = set(exchange.members)
    kept = [block.raw for turn in before.turns for block in turn.blocks if block.at not in gone]
    assert [block.raw for turn in after.turns for block in turn.blocks] == kept
    assert len(after.body) < len(body)


@given(bodies(), texts, st.data())
def test_an_inserted_message_stands_where_it_was_put(case: tuple[str, bytes], text: str, data: st.DataObject) -> None:
    name, body = case
    before = parse(FORMATS[name], body)
    place = data.draw(st.integers(0, len(before.turns)))
    after = parse(FORMATS[name], before.emit(inserts=[InsertMessage(place, "user", text)]))
    assert [turn.raw for turn in after.turns if turn.index != place] == [turn.raw for turn in before.turns]
    assert after.turns[place].blocks[0].text == text
    assert after.turns[place].role == "user"


@given(histories(), formats)
def test_keys_do_not_depend_on_the_position(steps: list[Step], name: str) -> None:
    """The same blocks behind another beginning have the same keys."""
    long = parse(FORMATS[name], json.dumps(BUILDERS[name]([Step(user="one"), Step(text="two"), *steps])).encode())
    short = parse(FORMATS[name], json.dumps(BUILDERS[name](steps)).encode())
    mine = {block.part.key for turn in short.turns for block in turn.blocks}
    assert mine <= {block.part.key for turn in long.turns for block in turn.blocks}


def test_a_cache_mark_does_not_change_the_key() -> None:
    plain = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "out"}]}
    marked = json.loads(json.dumps(plain))
    marked["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert _keys([plain]) == _keys([marked])


def test_a_text_has_one_key_as_a_string_and_as_a_block() -> None:
    block = {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}
    assert _keys([{"role": "user", "content": "hello"}]) == _keys([{"role": "user", "content": [block]}])


def test_equal_blocks_are_told_apart_by_their_number() -> None:
    keys = _keys([{"role": "user", "content": "go on"}, {"role": "user", "content": "go on"}])
    assert keys[1] == keys[0] + "#2"


def _keys(messages: list[dict[str, Any]]) -> list[str]:
    body = json.dumps({"messages": messages}).encode()
    return [block.key for turn in parse(FORMATS["anthropic"], body).turns for block in turn.blocks]


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages":[{"role":"user","role":"user","content":"a","content":"b"}],"model":"x","model":"y"}',
        b' {\n"\\u006dessages" : [ {"role" :"user" , "content":"caf\\u00e9 \\/ \xf0\x9f\x98\x80"} ]\t}\r\n ',
        b'{"messages":[{"role":"user","content":"lone \\ud83d surrogate"}],"x":1e400,"y":-0.0,"z":1.10}',
        b'{"messages":[{"role":"user","content":"bad \xff utf-8"}]}',
        b'{"messages":[]}',
    ],
    ids=["duplicate-keys", "escapes-and-white-space", "lone-surrogate", "broken-utf-8", "no-messages"],
)
def test_odd_json_survives(body: bytes) -> None:
    conversation = parse(FORMATS["anthropic"], body)
    assert conversation.emit() == body
    assert b"".join(turn.raw for turn in conversation.turns) in body
    if conversation.turns:
        changed = conversation.emit({(0, 0): SetText("new")})
        assert parse(FORMATS["anthropic"], changed).turns[0].blocks[0].text == "new"


def test_of_duplicate_keys_the_last_one_counts() -> None:
    body = b'{"messages":[{"role":"user","content":"a","content":"b"}]}'
    assert parse(FORMATS["anthropic"], body).turns[0].blocks[0].text == "b"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'{"messages":3}',
        b"{}",
        b'{"messages":[1,}',
        b'{"messages":' + b"[" * 100_000,
        b"\x00\xff",
    ],
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        parse(FORMATS["anthropic"], body)


@pytest.mark.parametrize("message", [b"1", b"null", b'"text"', b"[]", b"{}", b'{"role":3,"content":{"a":1}}'])
def test_a_message_of_no_known_form_passes(message: bytes) -> None:
    """What we do not understand has no blocks, or opaque ones; it leaves as it came."""
    for format in FORMATS.values():
        body = b'{"' + format.messages[0].encode() + b'":[' + message + b"]}"
        conversation = parse(format, body)
        assert all(not block.editable or block.kind == "text" for turn in conversation.turns for block in turn.blocks)
        assert conversation.emit() == body


def test_a_field_is_set_in_place_or_added_at_the_end() -> None:
    conversation = parse(FORMATS["chat"], b'{"a": 1, "messages":[], "b" :2 }')
    assert conversation.emit(fields={"b": b"3", "c": b"[4]"}) == b'{"a": 1, "messages":[], "b" :3,"c":[4] }'


def test_a_block_is_changed_once() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}'
    conversation = parse(FORMATS["anthropic"], body)
    with pytest.raises(ConversationError):
        conversation.emit({(0, 0): SetInput({})})
    dropped = conversation.emit({(0, 0): DropBlock(), (0, 1): SetText("c")})
    assert dropped == b'{"messages":[{"role":"user","content":[{"type":"text","text":"c"}]}]}'
