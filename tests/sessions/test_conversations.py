"""The engine on real files: after a restart the same bytes, and every promise of a tombstone kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.context.sessions import Clock, count, long_session, send, texts

from laconic.context.engine import Engine
from laconic.context.ledger import Decision, Recap
from laconic.sessions.archive import Archive
from laconic.sessions.ledger import LedgerFile


def _engine(folder: Path) -> Engine:
    store = LedgerFile(folder / "ledger.db", Decision, Recap)
    return Engine(store, Archive(folder / "archive.db", 1 << 30), Clock(), count)


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
    one = Engine(
        LedgerFile(tmp_path / "ledger.db", Decision, Recap),
        Archive(tmp_path / "file" / "a.db", 1 << 30),
        Clock(),
        count,
    )
    messages = long_session(60)
    for at in range(1, len(messages), 2):
        sent = send(one, messages[:at])
    assert not any("recall" in text for text in texts(sent))
