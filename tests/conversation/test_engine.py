"""The engine's laws: valid, smaller, the same bytes again, and a prefix that stays."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conversation.sessions import (
    FORMAT,
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
from tests.wire.histories import BUILDERS, Call, Step, histories

from laconic.conversation.cache_economics import CacheWeights
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt
from laconic.conversation.lifetimes import LifetimeBySize, Lifetimes
from laconic.conversation.transaction import LedgerTransaction
from laconic.errors import ArchiveUnavailable
from laconic.records import ArchivedOriginal
from laconic.wire.content import without_marks
from laconic.wire.formats import FORMATS
from laconic.wire.media import count_block
from laconic.wire.parsed_request import parse


def _prefixes(messages: list[dict[str, object]]) -> list[list[dict[str, object]]]:
    """Every request of a session: what was there before each turn of the assistant."""
    return [messages[:at] for at, message in enumerate(messages) if message["role"] == "assistant"] + [messages]


_ALWAYS = CacheWeights(payback=1e9, least=0, apart=0, fewest=80)
_NO_AGE = LifetimeBySize(0, 0, 0)
_EAGER = Lifetimes(
    read=_NO_AGE,
    read_test=_NO_AGE,
    read_document=_NO_AGE,
    changed=_NO_AGE,
    changed_test=_NO_AGE,
    changed_document=_NO_AGE,
    argument=0,
    argument_document=0,
    output=_NO_AGE,
    search=_NO_AGE,
    script=0,
    replaced=0,
    protected=0,
    smallest=1,
    rolled=0,
)


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.data())
@settings(max_examples=25)
def test_any_history_stays_valid_gets_no_larger_and_is_the_same_again(name: str, data: st.DataObject) -> None:
    raw = json.dumps(BUILDERS[name](data.draw(histories()))).encode()
    eager = EngineOptions(rules=msgspec.structs.replace(_EAGER, rolled=99), weights=_ALWAYS)
    one = ConversationEngine(MemoryStore(), MemoryArchive(), Clock(), count, eager)
    before = parse(FORMATS[name], raw)
    first = one.prepare("s", parse(FORMATS[name], raw))
    again = one.prepare("s", parse(FORMATS[name], raw))
    other = ConversationEngine(MemoryStore(), MemoryArchive(), Clock(), count, eager).prepare(
        "s", parse(FORMATS[name], raw)
    )
    after = parse(FORMATS[name], first.body)
    assert {fault.rule for fault in after.faults()} <= {fault.rule for fault in before.faults()}
    assert again.body == first.body == other.body
    assert [b.id for t in after.turns for b in t.blocks] == [b.id for t in before.turns for b in t.blocks]
    for old, new in zip(before.turns, after.turns, strict=True):
        for was, now in zip(old.blocks, new.blocks, strict=True):
            if was.kind in {"thinking", "redacted", "reasoning", "image", "opaque", "server"}:
                assert was.raw == now.raw


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.data())
@settings(max_examples=15)
def test_any_history_turn_by_turn_stays_valid_and_survives_a_restart(name: str, data: st.DataObject) -> None:
    steps = [replace(step, calls=tuple(map(_longer, step.calls))) for step in data.draw(histories())]
    eager = EngineOptions(rules=_EAGER, weights=_ALWAYS)
    store, archive = MemoryStore(), MemoryArchive()
    one = ConversationEngine(store, archive, Clock(), count, eager)
    before: list[bytes] = []
    for number in range(1, len(steps) + 1):
        raw = json.dumps(BUILDERS[name](steps[:number])).encode()
        now = one.prepare("s", parse(FORMATS[name], raw))
        rules = {fault.rule for fault in parse(FORMATS[name], raw).faults()}
        after = parse(FORMATS[name], now.body)
        assert {fault.rule for fault in after.faults()} <= rules
        assert len(now.body) <= len(raw)
        blocks = [without_marks(block.raw) for each in after.turns for block in each.blocks]
        assert now.mode or blocks[: len(before)] == before
        before = blocks
        assert (
            ConversationEngine(store, archive, Clock(), count, eager).prepare("s", parse(FORMATS[name], raw)).body
            == now.body
        )


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_line_that_takes_in_more_calls_is_an_event(name: str) -> None:
    """What was sent before changes, so the request says that it was changed."""
    steps, sizes = [Step("0")], (3, 2, 3, 1, 2, 1)
    for number, size in enumerate(sizes):
        calls = [_longer(Call(f"call_{number}_{at}", "Read", {}, "0")) for at in range(size)]
        steps.append(Step(calls=tuple(calls)))
    one = ConversationEngine(
        MemoryStore(), MemoryArchive(), Clock(), count, EngineOptions(rules=_EAGER, weights=_ALWAYS)
    )
    before: list[bytes] = []
    changed = 0
    for number in range(1, len(steps) + 1):
        now = one.prepare("s", parse(FORMATS[name], json.dumps(BUILDERS[name](steps[:number])).encode()))
        sent = parse(FORMATS[name], now.body)
        blocks = [without_marks(block.raw) for turn in sent.turns for block in turn.blocks]
        if blocks[: len(before)] != before:
            assert now.mode == "economic"
            assert now.made
            changed += 1
        before = blocks
    assert changed >= 2


def _longer(call: Call) -> Call:
    return replace(call, output="\n".join(f"{call.output} {n}" for n in range(30)))


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
    originals = {block["tool_use_id"]: block["content"] for m in messages[2::2] for block in m["content"]}
    blocks = [json.dumps(block, ensure_ascii=False) for m in messages for block in m["content"]]
    tombstones = recaps = 0
    for block in (block for each in opened(last).turns for block in each.blocks if block.kind == "result"):
        for line in (line for line in block.text.split("\n") if "laconic recall" in line):
            kept = archive.kept[line.rsplit("laconic recall ", 1)[1].strip("]")].decode()
            if re.search(
                r"calls? left out", line
            ):  # an entry of a recap: every block that went, as the client wrote it
                recaps += 1
                assert kept in "\n".join(blocks)
            else:
                tombstones += 1
                assert kept == originals[block.id]
                assert count(line) <= 60
    assert tombstones and recaps


def test_an_error_stays_marked_as_one() -> None:
    log = "\n".join(f"warning {n}: something is odd here" for n in range(50))
    messages = [user("go"), *turn("x", "Bash", {"command": "make"}, log, error=True), *long_session(90)[1:]]
    one = engine()
    for request in _prefixes(messages):
        last = send(one, request)
    result = next(b for t in opened(last).turns for b in t.blocks if b.id == "x" and b.kind == "result")
    assert result.error
    assert "left out" in result.text


class _Unreadable(MemoryArchive):
    def reference(self, original: ArchivedOriginal) -> str:
        raise ArchiveUnavailable("The disk is gone.", "Mount it.")


class _Full(MemoryArchive):
    """Says what the references would be, and then there is no room."""

    full = True

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        if self.full:
            raise ArchiveUnavailable("The disk is full.", "Free some.")
        return super().put_all(originals)


class _Late(MemoryArchive):
    """Another process takes the references before the bytes are written."""

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        return [f"{ref}0" for ref in super().put_all(originals)]


@pytest.mark.parametrize("archive", [_Unreadable(), _Full(), _Late()])
def test_an_archive_that_fails_leaves_everything_in_place(archive: MemoryArchive) -> None:
    store = MemoryStore()
    one = engine(archive=archive, store=store)
    for request in _prefixes(long_session(90)):
        last = send(one, request)
    assert not any("left out" in text for text in texts(last))
    assert store.events("session", 0) == ()


def test_an_archive_that_has_room_again_is_used_again() -> None:
    archive = _Full()
    one = engine(archive=archive)
    for at, request in enumerate(_prefixes(long_session(160))):
        archive.full = at < 60
        last = send(one, request)
    assert any("left out" in text for text in texts(last))


def test_bytes_are_archived_before_a_decision_refers_to_them() -> None:
    """Killed at any place between the two, a ledger never names what is not there."""
    archive = MemoryArchive()

    class Watching(MemoryStore):
        referred = 0

        def record(self, session: str, known: int, event: LedgerEntry | None, branch: Branch) -> None:
            refs = {decision.ref for decision in event.decisions} if event else set()
            refs |= {removal.ref for removal in event.removals} if event else set()
            assert refs <= archive.kept.keys()
            self.referred += len(refs)
            super().record(session, known, event, branch)

    store = Watching()
    one = engine(archive=archive, store=store)
    for request in _prefixes(long_session(90)):
        send(one, request)
    assert store.referred


def test_the_same_bytes_under_two_notes_are_kept_once_and_two_contents_never_share_a_reference() -> None:
    """Files that hold the same text leave in one event."""

    class Colliding(MemoryArchive):
        def reference(self, original: ArchivedOriginal) -> str:
            return "00000000"

    archive = MemoryArchive()
    writing = LedgerTransaction(MemoryStore(), archive)
    writing.begin()
    ref = writing.keep(ArchivedOriginal("s", "", b"text", "read a.py"))
    assert writing.keep(ArchivedOriginal("s", "", b"text", "read b.py")) == ref
    writing.append([Decision("k", "age", ref)], [])
    assert writing.finish("s", 0, Branch(id=1, tip="t", count=1, time=0.0, start=0, basis=0)) is not None
    assert archive.kept == {ref: b"text"}
    writing = LedgerTransaction(MemoryStore(), Colliding())
    writing.begin()
    writing.keep(ArchivedOriginal("s", "", b"text"))
    with pytest.raises(ArchiveUnavailable):
        writing.keep(ArchivedOriginal("s", "", b"another"))


class _ReadOnly(MemoryStore):
    def record(self, session: str, known: int, event: LedgerEntry | None, branch: Branch) -> None:
        raise ArchiveUnavailable("Read-only.", "Name another folder.")


class _Refusing(MemoryStore):
    """Refuses to write while it is told to."""

    refuses = False

    def record(self, session: str, known: int, event: LedgerEntry | None, branch: Branch) -> None:
        if self.refuses:
            raise ArchiveUnavailable("Full.", "Free some disk.")
        super().record(session, known, event, branch)


@pytest.mark.parametrize("back", [2, 4, 6, 8, 12])
def test_a_fork_that_cannot_be_written_down_keeps_its_prefix(back: int) -> None:
    """Every request of it begins the fork anew, and decides the same about what it has in common with its parent."""
    store = _Refusing()
    one = engine(EngineOptions(rules=_EAGER, weights=_ALWAYS), store=store)
    messages = long_session(20)
    for request in _prefixes(messages):
        send(one, request)
    store.refuses = True
    fork, before = messages[:-back], list[bytes]()
    for number in range(4):
        fork = [*fork, *run(f"f{number}", f"make f{number}", "\n".join(f"out {number} {n}" for n in range(30)))]
        sent = send(one, fork)
        blocks = [block.raw for each in opened(sent).turns for block in each.blocks]
        assert sent.mode == ""
        assert blocks[: len(before)] == before
        before = blocks


def test_no_line_goes_below_a_text_that_is_no_unicode() -> None:
    """It would have to be written anew, and half a surrogate pair cannot be."""
    messages = [user("go"), *run("a", "make a", "a is done"), *run("odd", "make odd", "half a pair: \ud800")]
    for number in range(20):
        messages += run(f"c{number}", f"make step{number}", f"step {number} is done and well")
    one = engine(EngineOptions(rules=_EAGER, weights=_ALWAYS))
    for request in _prefixes(messages):
        raw = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": request}).encode()
        sent = one.prepare("session", parse(FORMAT, raw))
    assert b'"half a pair: \\ud800"' in sent.body


class _Losing(_Full):
    """Loses what it had, and refuses to take it back while it is full."""

    full = False
    losses = 0

    @property
    def epoch(self) -> int:
        return self.losses

    def lose(self, refs: set[str]) -> None:
        for ref in refs:
            del self.kept[ref]
        self.losses += 1


def _rolled_up(archive: _Losing, *, below_shortened: bool) -> tuple[ConversationEngine, list[dict[str, object]]]:
    """A session in which a line stands for exchanges that are gone, below a result that is shortened or is not."""
    one = engine(EngineOptions(rules=_EAGER, weights=_ALWAYS), archive=archive)
    log = "\n".join(f"step a of the log, entry {n}" for n in range(20))
    messages = [user("go"), *(run("first", "make first", "ok") if below_shortened else []), *run("a", "make a", log)]
    for number in range(20):
        messages += run(f"c{number}", f"make step{number}", f"step {number} is done and well")
    for request in _prefixes(messages):
        sent = send(one, request)
    assert b"20 lines left out" in sent.body
    assert b"calls left out" in sent.body
    return one, messages


def test_a_line_for_exchanges_that_the_archive_lost_goes_when_they_come_back() -> None:
    archive = _Losing()
    one, messages = _rolled_up(archive, below_shortened=False)
    archive.lose(set(archive.kept))
    archive.full = True
    assert send(one, messages).body == body(messages)
    archive.full = False
    again = send(one, messages).body
    assert b"calls left out" in again
    assert set(re.findall(rb"recall ([0-9a-f]{8})", again)) <= {ref.encode() for ref in archive.kept}


def test_a_line_stays_below_a_result_whose_own_text_the_archive_lost() -> None:
    """What is gone is named in the request, whatever becomes of the text above it."""
    archive = _Losing()
    one, messages = _rolled_up(archive, below_shortened=True)
    text = next(ref for ref, data in archive.kept.items() if data.startswith(b"step a of the log"))
    archive.lose({text})
    archive.full = True
    sent = send(one, messages).body
    assert b"step a of the log, entry 19" in sent
    assert b"calls left out" in sent


@pytest.mark.parametrize("at", [4, 6, 10, 16])
def test_a_fork_of_a_fork_begins_as_its_parent_was_sent(at: int) -> None:
    """What the first branch decided after the second had left it does not count for a third that leaves the second."""
    slow = msgspec.structs.replace(_EAGER, rolled=99, read=LifetimeBySize(8, 8, 8), output=LifetimeBySize(8, 8, 8))
    one = engine(EngineOptions(rules=slow, weights=_ALWAYS))
    messages = long_session(20)
    for request in _prefixes(messages[: at + 3]):
        send(one, request)
    second = [*messages[: at + 1], *run("p", "make p", "\n".join(f"p {n}" for n in range(30)))]
    parent = [block.raw for each in opened(send(one, second)).turns for block in each.blocks]
    for request in _prefixes(messages)[at // 2 + 2 :]:
        send(one, request)
    assert send(one, [*second, *run("x", "make x", "x")]).mode == ""
    sent = send(one, [*second, *run("y", "make y", "y")])
    assert sent.mode == ""
    assert [block.raw for each in opened(sent).turns for block in each.blocks][: len(parent)] == parent


def test_what_could_not_be_archived_is_tried_again_when_the_request_is_sent_again() -> None:
    """Also by the process that failed: what it sends follows from the ledger, as in any other."""
    store, archive = MemoryStore(), _Full()
    one = engine(store=store, archive=archive)
    messages = [user("go"), *read("a", "src/a.py", code("a"))]
    assert send(one, messages).body == body(messages)
    archive.full = False
    again = send(one, messages).body
    assert len(again) < len(body(messages))
    assert engine(store=store, archive=archive).prepare("session", parse(FORMAT, body(messages))).body == again


def test_a_request_that_is_too_long_is_sent_when_nothing_can_be_written_down() -> None:
    messages = long_session(40)
    assert send(engine(store=_ReadOnly()), messages, RequestLimits(8_000)).body == body(messages)


def test_a_request_that_cannot_fit_is_made_as_short_as_it_can_be_and_sent() -> None:
    messages, archive = long_session(40), MemoryArchive()
    sent = send(engine(archive=archive), messages, RequestLimits(200))
    assert sent.mode == "window"
    assert len(sent.body) < len(body(messages)) / 5
    assert opened(sent).faults() == []
    assert set(re.findall(r"recall ([0-9a-f]{8})\b", sent.body.decode())) <= archive.kept.keys()


@pytest.mark.parametrize("length", range(60, 70))
def test_a_cut_that_saves_tokens_but_no_bytes_is_not_made(length: int) -> None:
    """The signs that stand for what is left out take few tokens, and several bytes each."""
    output = f"first {'a' * 30}\n{'b' * length}\nlast {'c' * 30}"
    messages = [user("go"), *run("a", "ls", "ok"), *run("b", "make", output)]
    assert len(send(engine(), messages, RequestLimits(100)).body) <= len(body(messages))


def test_nothing_leaves_without_a_receipt() -> None:
    with pytest.raises(ValueError, match="receipt"):
        Decision("k", "age", Receipt(""))


def test_a_session_that_rested_long_is_read_again_and_leaves_the_same_bytes() -> None:
    clock = Clock()
    one = engine(clock=clock)
    messages = long_session(60)
    for request in _prefixes(messages):
        send(one, request)
    clock.now += 10_000  # what is no longer of use goes when the cache is cold, and then no more
    last = send(one, messages)
    clock.now += 10_000
    one.prepare("another", parse(FORMAT, body([user("hello")])))
    assert send(one, messages).body == last.body


def test_settings_can_switch_it_off() -> None:
    raw = body(long_session(10))
    assert engine(EngineOptions(enabled=False)).prepare("s", parse(FORMAT, raw)).body == raw


def test_helpers_of_an_agent_keep_their_own_state() -> None:
    main, helper = long_session(70), [user("You are a helper."), *run("h", "ls", "a\nb")]
    one, alone = engine(), engine()
    for request in _prefixes(main):
        mixed = send(one, request)
        send(one, helper)
        pure = send(alone, request)
        assert mixed.body == pure.body


@pytest.mark.feature("X1", "X2")
def test_pictures_without_a_text_stay_or_come_back() -> None:
    """Old ones go with their exchanges; a line that stands for those has no place in a result that is a picture."""
    archive = MemoryArchive()
    one, messages = engine(archive=archive), [user("Please look around.")]
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 64, 64)
    pictures = [b64encode(head + bytes([number]) * 1_500) for number in range(40)]
    for number, data in enumerate(pictures):
        source = {"type": "base64", "media_type": "image/png", "data": data.decode()}
        messages += turn(f"s{number}", "Bash", {"command": f"shot {number}"}, [{"type": "image", "source": source}])
    for request in _prefixes(messages):
        last = send(one, request)
    kept = last.body + b"".join(archive.kept.values())
    assert [number for number, data in enumerate(pictures) if data not in kept] == []


def _count_blocks(body: bytes) -> int:
    parsed = parse(FORMATS["anthropic"], body)
    fixed = len(parsed.format.pinned) * count("")  # there are neither instructions nor tools
    return fixed + sum(count_block(block, count) for turn in parsed.turns for block in turn.blocks)


@pytest.mark.parametrize("window", [0, 12_000], ids=["at ease", "in a small window"])
def test_what_came_and_what_is_sent_are_counted_on_the_bytes(window: int) -> None:
    """The bill rests on these two counts: also with lines left out, exchanges rolled up, and a recap."""
    engine = ConversationEngine(MemoryStore(), MemoryArchive(), Clock(), count)
    changed = 0
    for messages in _prefixes(long_session(60)):
        body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages}).encode()
        made = engine.prepare("s", parse(FORMATS["anthropic"], body), RequestLimits(window=window))
        assert made.came == _count_blocks(body)
        assert made.sent == pytest.approx(_count_blocks(made.body), rel=0.01, abs=60)
        changed += made.sent < made.came
    assert changed > 20
