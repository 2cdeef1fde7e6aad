"""What the stores promise, on SQLite and on PostgreSQL: one suite for both."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Places
from tests.conversation.sessions import Clock, count, long_session, send

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt
from laconic.conversation.quota import Quota
from laconic.errors import LedgerMoved, RecallFailed
from laconic.records import AddedBlock, AddedContent, ArchivedOriginal
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.shared_memory import SharedMemory
from laconic.sessions.shared_quota import SharedQuotas
from laconic.sessions.spending import SessionFilter, Spending
from laconic.sessions.store import StorePlace
from laconic.sessions.turn_record import Allowance, AnswerCost, ShortenedBlock, TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns
from laconic.wire.usage import Usage

BRANCH = Branch(id=1, tip="aa", count=3, time=5.0, start=0, basis=0)
FIRST = LedgerEntry(1, "aa", 3, (Decision("k1", "ingest", Receipt("abcd1234"), before=40, after=4),))
SECOND = LedgerEntry(1, "bb", 5, (Decision("k2", "age", Receipt("abcd1235"), "content", text="gone"),))


def _ledger(places: Places, limit: int = 10**9) -> LedgerFile[LedgerEntry, Branch]:
    return LedgerFile(places("ledger"), LedgerEntry, Branch, limit=limit)


def test_events_come_back_in_order_and_branches_as_they_are_now(places: Places) -> None:
    """Each call opens the store anew, as another process would."""
    later = Branch(id=1, tip="bb", count=5, time=6.0, start=0, basis=0)
    _ledger(places).record("s", 0, FIRST, BRANCH)
    _ledger(places).record("s", 1, SECOND, later)
    _ledger(places).record("other", 0, SECOND, BRANCH)
    assert _ledger(places).state("s") == (2, (later,))
    assert _ledger(places).events("s") == [FIRST, SECOND]
    assert _ledger(places).events("s", 1) == [SECOND]
    assert sorted(_ledger(places).sessions()) == ["other", "s"]


def test_who_comes_second_reads_again(places: Places) -> None:
    ledger = _ledger(places)
    ledger.record("s", 0, FIRST, BRANCH)
    for event in (SECOND, None):
        with pytest.raises(LedgerMoved):
            _ledger(places).record("s", 0, event, BRANCH)
    assert ledger.events("s") == [FIRST]


def test_the_first_form_of_a_prompt_stays(places: Places) -> None:
    ledger = _ledger(places)
    ledger.keep_forms("s", {b"a": b"1", b"\x00b": b"\x00\xff"})
    ledger.keep_forms("s", {b"a": b"2", b"c": b"3"})
    assert ledger.forms("s", [b"a", b"\x00b", b"c", b"none"]) == {b"a": b"1", b"\x00b": b"\x00\xff", b"c": b"3"}
    assert ledger.forms("other", [b"a"]) == {}


def test_branches_are_bounded_and_old_sessions_go(places: Places) -> None:
    ledger = _ledger(places)
    for number in range(1, 80):
        ledger.record("s", 0, None, Branch(id=number, tip="x", count=1, time=float(number), start=0, basis=0))
    assert len(ledger.state("s")[1]) == 64
    small = _ledger(places, limit=0)
    small.record("t", 0, FIRST, BRANCH)  # its first append looks for what is too much
    assert small.sessions() == ["t"]


def test_a_removed_session_is_gone_and_others_stay(places: Places) -> None:
    ledger = _ledger(places)
    ledger.record("s", 0, FIRST, BRANCH)
    ledger.record("t", 0, FIRST, BRANCH)
    assert ledger.remove(["s", "none"]) == 1
    assert ledger.state("s") == (0, ())
    assert ledger.events("t") == [FIRST]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=2000), st.text(max_size=30), st.text(max_size=30))
def test_archived_bytes_come_back_exactly(places: Places, data: bytes, session: str, task: str) -> None:
    archive = _shared_archive(places)
    ref = archive.put(session, task, data)
    assert archive.get(ref) == data
    assert archive.put(session, task, data) == ref
    assert archive.reference(ArchivedOriginal(session, task, data, "")) == ref


_ARCHIVES: dict[StorePlace, Archive] = {}


def _shared_archive(places: Places) -> Archive:
    place = places("archive")
    return _ARCHIVES.setdefault(place, Archive(place, 10**9))


def test_an_archive_lists_finds_and_removes(places: Places) -> None:
    archive = Archive(places("archive"), 10**9)
    one = archive.put("s", "t", b"alpha\nbeta\ngamma", "a note")
    two = archive.put("s", "u", b"delta")
    three = archive.put("other", "t", b"beta")
    assert archive.entry(one).note == "a note"
    assert [entry.ref for entry in archive.entries("s")] == sorted([one, two], key=[one, two].index)
    assert archive.lines(one, 2, 3) == ["beta", "gamma"]
    assert [(entry.ref, line) for entry, line, _ in archive.search("beta")] == [(three, 1), (one, 2)]
    assert archive.missing([one, two, "zzzzzzzz"]) == {"zzzzzzzz"}
    before = archive.epoch
    assert archive.remove(["s"]) == 2
    assert archive.epoch != before
    with pytest.raises(RecallFailed):
        archive.get(one)
    assert archive.get(three) == b"beta"


def test_the_oldest_leave_an_archive_that_is_full(places: Places) -> None:
    clock = [0.0]
    archive = Archive(places("archive"), 5_000, lambda: clock[0])
    refs = []
    for number in range(20):
        clock[0] += 1
        noise = bytes((number * 7919 + at * 104729) % 251 for at in range(1_000))
        refs.append(archive.put("s", "t", noise))
    assert archive.missing(refs)
    assert refs[-1] not in archive.missing(refs)
    assert refs[0] in archive.missing(refs)


def _turn(session: str, at: float, dollars: float = 0.5, **more: str) -> TurnRecord:
    block = AddedBlock(f"k{at}", "read", "Read", "a.py", 100, 80)
    return TurnRecord(
        TurnIdentity(session, account="acc", upstream="anthropic", model="m", format="anthropic", **more),
        at,
        200,
        12,
        cost=AnswerCost(10, 20, 30, 4, 90.0, dollars, 1.5, estimated=True, standing=b"\x00state"),
        added_content=AddedContent(1, 7, (block,), anew=False, title="Hello \x00 there", project="/src/p"),
        cuts=(ShortenedBlock(f"k{at}", 5),),
        malformed=("no name",),
        allowance=Allowance(1000, 900, 30.0),
        evidence=b"\x01\x00",
        fingerprint=b"\x02\x00",
    )


def test_turns_add_up(places: Places) -> None:
    turns = Turns(places("turns"))
    for number in range(3):
        turns.add(_turn("s", 3600.0 * number, client="claude-cli"), _turn("t", 3600.0 * number + 1, dollars=0.25))
    assert (turns.last_turn("s"), turns.last_turn("none")) == ((b"\x00state", b"\x02\x00"), (b"", b""))
    reading = Spending(places("turns"))
    rows = {row.session: row for row in reading.sessions("dollars")}
    assert (rows["s"].turns, rows["s"].prompt, rows["s"].dollars, rows["s"].estimated) == (3, 180, 1.5, 3)
    assert list(rows) == ["s", "t"]
    assert reading.sessions("cache", 1) != []
    assert reading.count(SessionFilter(words="hello")) == 2
    assert reading.count(SessionFilter(clients=("claude-cli",))) == 1
    assert reading.count(SessionFilter(clients=("claude-cli", "other"))) == 1
    assert reading.count(SessionFilter(clients=("other",))) == 0
    assert [turn.number for turn in reading.turns("s")] == [1, 2, 3]
    assert reading.turns("s")[0].evidence == b"\x01\x00"
    assert [(hour.turns, hour.prompt) for hour in reading.hours()] == [(2, 120)] * 3
    assert [(part.name, part.blocks) for part in reading.parts("tool")] == [("Read", 6)]
    assert reading.parts_of("s", "file")[0].name == "a.py"
    assert reading.about("s", ["k0.0"]) == {"k0.0": ("read", "Read", "a.py")}
    assert [(row.reason, row.count) for row in reading.malformed()] == [("no name", 6)]
    assert [(use.sessions, use.turns, use.dollars) for use in reading.models()] == [(2, 6, 2.25)]
    assert [row.spent for row in reading.quotas(7201.0)] == [88]  # what a cache gave does not count
    assert [(row.session, turn.number) for row in reading.single_sessions() for turn in reading.turns(row.session)][
        :1
    ] == [("t", 1)]
    assert len(list(reading.all_turns())) == 6
    assert [row.sessions for row in turns.accounts()] == [2]
    assert turns.sessions("acc", before=7201.0) == ["s"]
    assert turns.titles()["s"].startswith("Hello")


def test_old_sessions_leave_the_record_and_a_person_may_ask_for_it(places: Places) -> None:
    turns = Turns(places("turns"), kept=2)
    for number, name in enumerate("abc"):
        turns.add(_turn(name, 3600.0 * number))
    for number in range(120):
        turns.add(TurnRecord(TurnIdentity("b"), 4 * 3600.0 + number))
    reading = Spending(places("turns"))
    assert {row.session for row in reading.sessions()} == {"b", "c"}
    assert turns.remove(["b"]) == 1
    assert turns.clear() == 1
    assert (reading.sessions(), reading.hours(), reading.parts("file")) == ([], [], [])


def test_what_was_learned_is_known_to_all(places: Places) -> None:
    SharedMemory(places("memory")).keep("window a/m", "200000", 99.0)
    SharedMemory(places("memory")).keep("window a/m", "100000", 98.0)
    assert SharedMemory(places("memory")).recall("window a/m") == ("100000", 98.0)
    assert SharedMemory(places("memory")).recall("none") is None


def test_quotas_are_spent_together(places: Places) -> None:
    """What one process spends, and the newest word of the provider, count for all; a minute later they are free."""
    clock = [1000.0]
    one, two = (SharedQuotas(places("quota"), lambda: clock[0]) for _ in range(2))
    one.add("a", (1000.2, 70, 5), (1000.2, 500, 1060.0, 900, True))
    two.add("a", (1000.4, 30, 5), (999.0, 800, 1060.0, 900, True))  # an older word
    one.add("b", (1000.4, 1, 1), None)
    assert two.read("a") == ([(1000.0, 100, 10)], (1000.2, 500, 1060.0, 900, True))
    assert two.read("a") is None  # a moment ago
    clock[0] += 61
    assert two.read("a") == ([], (1000.2, 500, 1060.0, 900, True))
    first, second = Quota(lambda: clock[0], 1000), Quota(lambda: clock[0], 1000)
    one.add("c", first.spend(Usage(input=300, output=10)), None)
    known = two.read("c")
    assert known is not None
    second.adopt(*known)
    assert second.left == 690


def test_the_same_bytes_whichever_process_serves_a_turn(places: Places) -> None:
    """Three engines on one store, taking turns, send what a single one on files sends."""

    def engine(folder: Places) -> ConversationEngine:
        ledger = _ledger(folder)
        return ConversationEngine(ledger, Archive(folder("archive"), 10**9), Clock(), count, forms=ledger)

    messages = long_session(70)
    replicas = [engine(places) for _ in range(3)]
    alone = engine(lambda name: places(f"{name}_alone"))
    shortened = False
    for turn, at in enumerate(range(1, len(messages), 2)):
        expected = send(alone, messages[:at])
        assert send(replicas[turn % 3], messages[:at]).body == expected.body
        shortened = shortened or bool(expected.made)
    assert shortened
