"""The engine on real files: after a restart the same bytes, and every promise of a tombstone kept."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conversation.sessions import Clock, count, long_session, send, texts

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import RequestLimits
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile

KEEP = """
import pathlib, sys
from tests.conversation.sessions import long_session, send
from tests.sessions.test_conversations import _engine
one, messages = _engine(pathlib.Path(sys.argv[1])), long_session(90)
for at in range(1, len(messages), 2):
    made = send(one, messages[:at]).made
    print(at, *(decision.ref for decision in made if decision.ref), flush=True)
"""


def _engine(folder: Path) -> ConversationEngine:
    store = LedgerFile(folder / "ledger.db", LedgerEntry, Branch)
    return ConversationEngine(store, Archive(folder / "archive.db", 1 << 30), Clock(), count)


@pytest.mark.feature("S5")
def test_a_restart_in_the_middle_gives_the_same_bytes_and_recall_the_originals(tmp_path: Path) -> None:
    messages = long_session(70)
    steady = restarted = _engine(tmp_path / "steady")
    for at in range(1, len(messages), 2):
        kept = send(steady, messages[:at]).body
        if at % 20 == 1:
            restarted = _engine(tmp_path / "restarted")
        assert send(restarted, messages[:at]).body == kept
    originals = {block["content"] for message in messages[2::2] for block in message["content"]}
    refs = [
        ref
        for text in texts(send(_engine(tmp_path / "steady"), messages))
        for ref in re.findall(r"recall (\w+)", text)
    ]
    assert refs
    archive = Archive(tmp_path / "steady" / "archive.db", 1 << 30)
    blocks = {json.dumps(block, ensure_ascii=False) for message in messages for block in message["content"]}
    for found in (archive.get(ref).decode() for ref in refs):  # a text, or whole exchanges block by block
        assert found in originals or set(found.split("\n")) <= blocks


def test_a_folder_that_cannot_be_written_leaves_requests_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    one = ConversationEngine(
        LedgerFile(tmp_path / "ledger.db", LedgerEntry, Branch),
        Archive(tmp_path / "file" / "a.db", 1 << 30),
        Clock(),
        count,
    )
    messages = long_session(60)
    for at in range(1, len(messages), 2):
        sent = send(one, messages[:at])
    assert not any("recall" in text for text in texts(sent))


def _commits(file: Path) -> int:
    """Transactions that changed a file: SQLite counts them in its header."""
    return int.from_bytes(file.read_bytes()[24:28], "big") if file.exists() else 0


@pytest.mark.parametrize("window", [0, 20_000])
def test_an_event_is_one_transaction_of_the_archive_and_one_of_the_ledger(tmp_path: Path, window: int) -> None:
    messages, one = long_session(90), _engine(tmp_path)
    files = (tmp_path / "archive.db", tmp_path / "ledger.db")
    most, archived = 0, 0
    archive = Archive(files[0], 1 << 30)
    for at in range(1, len(messages), 2):
        before, kept = [_commits(file) for file in files], len(archive.entries()) if at > 1 else 0
        sent = send(one, messages[:at], RequestLimits(window))
        for file, number in zip(files, before, strict=True):
            assert _commits(file) - number <= 1 + (number == 0)  # and one that makes the tables
        if sent.mode:
            most, archived = most + 1, max(archived, len(archive.entries()) - kept)
    assert most >= 2
    assert archived >= 4


def test_a_ledger_that_cannot_be_written_for_a_while_leaves_requests_as_they_are(tmp_path: Path) -> None:
    """The bytes are archived already: the request goes as the ledger on the disk says, and later ones are served."""
    messages, one = long_session(90), _engine(tmp_path)
    ledger, away = tmp_path / "ledger.db", tmp_path / "away"
    for at in range(1, len(messages), 2):
        if at == 41:
            ledger.rename(away)
            ledger.mkdir()
        if at == 101:
            ledger.rmdir()
            away.rename(ledger)
        sent = send(one, messages[:at])
        if 41 <= at < 101:
            assert not sent.made
    assert any("recall" in text for text in texts(sent))
    assert send(_engine(tmp_path), messages[:at]).body == sent.body


@pytest.mark.parametrize("events", [1, 2, 3])
def test_a_killed_process_leaves_no_promise_without_bytes_and_forgets_no_decision_it_sent(
    tmp_path: Path, events: int
) -> None:
    """Killed a moment after an event: the ledger names only what the archive holds, and all that was reported."""
    root = Path(__file__).parents[2]
    child = subprocess.Popen([sys.executable, "-c", KEEP, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root)
    assert child.stdout is not None
    told: list[str] = []
    for line in child.stdout:
        told += line.split()[1:]
        events -= bool(line.split()[1:])
        if not events:
            break
    time.sleep(0.003 * len(told))  # anywhere in one of the next requests
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    written = LedgerFile(tmp_path / "ledger.db", LedgerEntry, Branch).events("session")
    kept = {decision.ref for event in written for decision in event.decisions}
    kept |= {removal.ref for event in written for removal in event.removals}
    assert told
    assert set(told) <= kept
    assert kept <= {entry.ref for entry in Archive(tmp_path / "archive.db", 1 << 30).entries()}
