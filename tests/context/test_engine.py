"""The engine's laws: valid, smaller, the same bytes again, and a prefix that stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.sessions import (
    Clock,
    body,
    code,
    count,
    engine,
    long_session,
    opened,
    read,
    run,
    send,
    texts,
    turn,
    user,
)
from tests.wire.histories import BUILDERS, histories

from laconic.context.engine import Engine
from laconic.context.memory import MemoryArchive, MemoryStore
from laconic.context.options import Options
from laconic.context.rules import Rules
from laconic.wire.conversation import parse
from laconic.wire.formats import FORMATS


def _prefixes(messages: list[dict[str, object]]) -> list[list[dict[str, object]]]:
    """Every request of a session: what was there before each turn of the assistant."""
    return [messages[:at] for at, message in enumerate(messages) if message["role"] == "assistant"] + [messages]


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.data())
@settings(max_examples=25)
def test_any_history_stays_valid_gets_no_larger_and_is_the_same_again(name: str, data: st.DataObject) -> None:
    raw = json.dumps(BUILDERS[name](data.draw(histories()))).encode()
    eager = Options(rules=Rules(read=0, changed=0, test=0, output=0, replaced=0, protected=0, smallest=1))
    one = Engine(MemoryStore(), MemoryArchive(), Clock(), count, eager)
    before = parse(FORMATS[name], raw)
    first = one.prepare("s", FORMATS[name], raw)
    again = one.prepare("s", FORMATS[name], raw)
    other = Engine(MemoryStore(), MemoryArchive(), Clock(), count, eager).prepare("s", FORMATS[name], raw)
    after = parse(FORMATS[name], first.body)
    assert {fault.rule for fault in after.faults()} <= {fault.rule for fault in before.faults()}
    assert again.body == first.body == other.body
    assert [b.id for t in after.turns for b in t.blocks] == [b.id for t in before.turns for b in t.blocks]
    for old, new in zip(before.turns, after.turns, strict=True):
        for was, now in zip(old.blocks, new.blocks, strict=True):
            if was.kind in {"thinking", "redacted", "reasoning", "image", "opaque", "server"}:
                assert was.raw == now.raw


@pytest.mark.feature("S10")
def test_thinking_and_signatures_leave_as_they_came() -> None:
    thought = {"type": "thinking", "thinking": "hm …", "signature": "c2ln/+=="}
    messages = long_session(60)
    messages[1]["content"].insert(0, thought)
    sent = [b.raw for t in opened(send(engine(), messages)).turns for b in t.blocks if b.kind == "thinking"]
    assert [json.loads(raw) for raw in sent] == [thought]


def test_padding_of_listings_goes_and_lines_stay() -> None:
    text = code("alpha", 30)
    sent = texts(send(engine(), [user("go"), *read("a", "src/a.py", text)]))[0]
    assert "→" not in sent
    assert all(line in sent for line in text.split("\n"))


def test_a_file_that_is_read_again_points_to_what_is_shown() -> None:
    text = code("alpha", 40)
    changed = text.replace("alpha_value_20 =", "alpha_value_20 +=")
    messages = [user("go"), *read("a", "src/a.py", text), *read("b", "src/a.py", changed)]
    first, second = texts(send(engine(), messages))
    assert "alpha_value_20 +=" in second
    assert len(second) < len(first) / 5
    assert "as above" in second


def test_a_pointer_goes_when_its_source_is_gone() -> None:
    text = code("alpha", 40)
    messages = [user("go"), *read("a", "src/a.py", text), *read("b", "src/a.py", text)]
    one = engine()
    assert "as above" in texts(send(one, messages))[1]
    compacted = [user("go"), *messages[3:]]
    assert all(line in texts(send(one, compacted))[0] for line in text.split("\n"))


@pytest.mark.feature("P1")
def test_requests_only_ever_add_between_events() -> None:
    one = engine()
    before, events = b"", 0
    for request in _prefixes(long_session(90)):
        now = send(one, request)
        shared = now.body.startswith(before)
        assert shared or now.mode
        events += not shared
        before = now.body[:-2]
    assert 1 <= events <= 15


@pytest.mark.feature("S5")
def test_what_is_left_out_was_archived_byte_for_byte() -> None:
    archive = MemoryArchive()
    messages = long_session(90)
    one = engine(archive=archive)
    for request in _prefixes(messages):
        last = send(one, request)
    gone = [text for text in texts(last) if "laconic recall" in text]
    assert gone
    originals = {block["content"] for m in messages[2::2] for block in m["content"]}
    blocks = {json.dumps(block, ensure_ascii=False) for m in messages for block in m["content"]}
    for text in gone:
        kept = archive.kept[text.rsplit("laconic recall ", 1)[1].strip("]")].decode()
        if "calls left out" in text:  # whole exchanges: every block as the client wrote it
            assert set(kept.split("\n")) <= blocks
        else:
            assert kept in originals


def test_an_error_stays_marked_as_one() -> None:
    log = "\n".join(f"warning {n}: something is odd here" for n in range(50))
    messages = [user("go"), *turn("x", "Bash", {"command": "make"}, log, error=True), *long_session(90)[1:]]
    one = engine()
    for request in _prefixes(messages):
        last = send(one, request)
    result = next(b for t in opened(last).turns for b in t.blocks if b.id == "x" and b.kind == "result")
    assert result.error
    assert "left out" in result.text


def test_an_archive_that_fails_leaves_everything_in_place() -> None:
    from laconic.errors import ArchiveUnavailable

    class Full:
        def put(self, session: str, task: str, data: bytes, note: str = "") -> str:
            raise ArchiveUnavailable("The disk is full.", "Free some.")

    one = engine(archive=Full())
    for request in _prefixes(long_session(90)):
        last = send(one, request)
    assert not any("left out" in text for text in texts(last))


def test_settings_can_switch_it_off() -> None:
    raw = body(long_session(10))
    from tests.context.sessions import FORMAT

    assert engine(Options(enabled=False)).prepare("s", FORMAT, raw).body == raw


def test_helpers_of_an_agent_keep_their_own_state() -> None:
    main, helper = long_session(70), [user("You are a helper."), *run("h", "ls", "a\nb")]
    one, alone = engine(), engine()
    for request in _prefixes(main):
        mixed = send(one, request)
        send(one, helper)
        pure = send(alone, request)
        assert mixed.body == pure.body
