"""The database of a team: it goes away and comes back, is used by many at once, and is never changed by old programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.conversation.sessions import Clock, count, long_session, send, texts

from laconic.config import load
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt
from laconic.errors import ArchiveUnavailable, BadSetting, LedgerMoved, StoreAway
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.postgres import PostgresDatabase, translate, translate_tables
from laconic.sessions.store import SharedStore, find_place
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns
from laconic_benchmarks.postgres_server import PostgresServer, free_port

BRANCH = Branch(id=1, tip="aa", count=3, time=5.0, start=0, basis=0)


def _entry(number: int) -> LedgerEntry:
    return LedgerEntry(1, "aa", 3, (Decision(f"k{number}", "ingest", Receipt("abcd1234")),))


def _ledger(url: str) -> LedgerFile[LedgerEntry, Branch]:
    return LedgerFile(SharedStore(url, "ledger"), LedgerEntry, Branch)


def test_writers_of_one_session_never_take_the_same_number(database_url: str) -> None:
    """Eight threads with connections of their own: whoever comes second reads again."""
    moved = []

    def write(worker: int) -> None:
        ledger = _ledger(database_url)
        done = 0
        while done < 5:
            known, _ = ledger.state("s")
            try:
                ledger.record("s", known, _entry(100 * worker + done), BRANCH)
                done += 1
            except LedgerMoved:
                moved.append(worker)
        ledger.close()

    _in_threads(write, 8)
    keys = [event.decisions[0].key for event in _ledger(database_url).events("s")]
    assert len(keys) == len(set(keys)) == 40


def test_figures_of_many_writers_add_up(database_url: str) -> None:
    def write(worker: int) -> None:
        turns = Turns(SharedStore(database_url, "turns"))
        for number in range(10):
            who = TurnIdentity(f"s{(worker + number) % 4}", model="m")
            turns.add(TurnRecord(who, float(number), 200, cost=AnswerCost(input=1, dollars=0.5)))
        turns.close()

    _in_threads(write, 6)
    with psycopg.connect(database_url) as base:
        row = base.execute("SELECT sum(turns), sum(input) FROM laconic_turns.session").fetchone()
        rows = base.execute("SELECT count(*) FROM laconic_turns.turn").fetchone()
    assert row == (60, 60)
    assert rows == (60,)


def test_the_same_short_reference_is_never_given_to_two_contents(database_url: str) -> None:
    refs: dict[bytes, str] = {}

    def put(worker: int) -> None:
        archive = Archive(SharedStore(database_url, "archive"), 10**9)
        for number in range(20):
            data = f"{number} of {worker % 2}".encode()
            refs[data] = archive.put("s", "t", data)
        archive.close()

    _in_threads(put, 6)
    archive = Archive(SharedStore(database_url, "archive"), 10**9)
    assert len(set(refs.values())) == len(refs) == 40
    assert all(archive.get(ref) == data for data, ref in refs.items())


def test_a_database_of_a_newer_program_is_refused_and_left_alone(database_url: str) -> None:
    _ledger(database_url).record("s", 0, _entry(1), BRANCH)
    with psycopg.connect(database_url, autocommit=True) as base:
        base.execute("UPDATE laconic_ledger.laconic_version SET number=99")
    with pytest.raises(ArchiveUnavailable, match="newer"):
        _ledger(database_url).state("s")


def test_tables_grow_with_the_program(database_url: str) -> None:
    """A later version adds its steps to what an earlier one left, once, whoever starts first."""
    first = ("CREATE TABLE thing (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID",)
    old = PostgresDatabase(database_url, "laconic_x", first, "x")
    old.write(lambda base: base.execute("INSERT INTO thing VALUES (?,?)", ("a", 3)))
    second = (*first, "ALTER TABLE thing ADD COLUMN note TEXT NOT NULL DEFAULT ''")

    def start(worker: int) -> None:
        PostgresDatabase(database_url, "laconic_x", second, "x").read(
            lambda base: base.execute("SELECT 1").fetchone()
        )

    _in_threads(start, 4)
    new = PostgresDatabase(database_url, "laconic_x", second, "x")
    assert new.read(lambda base: base.execute("SELECT * FROM thing").fetchall()) == [("a", 3, "")]


def test_nothing_is_left_out_while_the_database_is_away_and_all_goes_on_when_it_is_back() -> None:
    with PostgresServer() as server:
        url = server.new_database()
        ledger, archive = _ledger(url), Archive(SharedStore(url, "archive"), 10**9)
        engine = ConversationEngine(ledger, archive, Clock(), count, forms=ledger)
        messages = long_session(90)
        for at in range(1, 101, 2):
            before = send(engine, messages[:at])
        assert any("recall" in text for text in texts(before))
        server.stop()
        for at in range(101, 121, 2):
            sent = send(engine, messages[:at])
            assert not any("recall" in text for text in texts(sent))
            assert not sent.made
        assert ledger.is_away
        assert ledger.faults["away"]
        with pytest.raises(StoreAway):
            ledger.state("s")
        server.start()
        until = time.monotonic() + 60
        while (ledger.is_away or archive.is_away) and time.monotonic() < until:
            time.sleep(0.05)
        after = send(engine, messages[:121])
        assert any("recall" in text for text in texts(after))


def test_a_restarted_database_breaks_nothing() -> None:
    """Old connections are dead: a question is asked again on a new one."""
    with PostgresServer() as server:
        ledger = _ledger(server.new_database())
        ledger.record("s", 0, _entry(1), BRANCH)
        server.stop()
        server.start()
        assert ledger.state("s")[0] == 1
        assert not ledger.is_away


def test_a_database_that_was_never_there_says_so_without_its_password() -> None:
    ledger = _ledger(f"postgresql://someone:secret@127.0.0.1:{free_port()}/none")
    with pytest.raises(StoreAway) as caught:
        ledger.state("s")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    ledger.close()


def test_a_store_must_be_an_address_that_is_understood() -> None:
    with pytest.raises(BadSetting, match="PostgreSQL"):
        find_place(load(flags={"store": "mysql://x"}, environ={}), "ledger.sqlite")


def test_queries_are_translated_as_they_stand() -> None:
    assert translate("SELECT a FROM b WHERE c=? AND d LIKE '50%'") == b"SELECT a FROM b WHERE c=%s AND d LIKE '50%%'"
    assert translate("UPDATE a SET b=:b_c WHERE c=:c") == b"UPDATE a SET b=%(b_c)s WHERE c=%(c)s"
    table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a REAL, b BLOB) WITHOUT ROWID"
    assert "IDENTITY" in translate_tables(table)
    assert "BYTEA)" in translate_tables(table)


def _in_threads(work: Callable[[int], None], count: int) -> None:
    """All at once; what one of them raises is raised here."""
    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(work, worker) for worker in range(count)]:
            done.result()
