"""What `laconic purge` removes, and what it leaves."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.gateway.stage import Stage, play

from laconic.cli.main import main
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt
from laconic.errors import UsageError
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.exchange.turn_account import TurnAccount
from laconic.gateway.scripted_upstream import ScriptedAnswer
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.records import AddedBlock, AddedContent
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import Spending
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.trajectories import begin
from laconic.sessions.turn_record import TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns
from laconic.tokens.count import counter

OLD = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
NEW = datetime(2026, 5, 1, tzinfo=UTC).timestamp()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions of two accounts: one old, one new; each says its secret in every file."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LACONIC_STATE_DIR", str(tmp_path / "state"))
    for name, at in (("old", OLD), ("new", NEW)):
        _keep(tmp_path / "cache", name, at)
    return tmp_path / "cache"


def _keep(folder: Path, name: str, at: float) -> None:
    with closing(Archive(folder / "archive.sqlite", 10**8, now=lambda: at)) as archive:
        archive.put(f"session-{name}", "t", _secret(name), f"note of {name}")
    with closing(LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch, days=9_999, now=lambda: at)) as ledger:
        made = Decision("k", "age", Receipt("abcd1234"), text=f"decided by {name} " * 50)
        branch = Branch(id=1, tip="t", count=1, time=at, start=0, basis=0)
        ledger.record(f"session-{name}", 0, LedgerEntry(1, "t", 1, (made,)), branch)
    with closing(Turns(folder / "turns.sqlite", days=9_999)) as turns:
        entered = (AddedBlock("k", "read", "Read", f"src/of_{name}.py", 5, 5),)
        added_content = AddedContent(turn=1, fixed=0, title=f"title of {name}", entered=entered)
        turns.add(
            TurnRecord(
                TurnIdentity(f"session-{name}", f"account-{name}", "anthropic"), at, 200, added_content=added_content
            )
        )
    with closing(ToolCallLog(folder)) as calls:
        calls.add([(at, f"tool_of_{name}", 1, 1.0, False, False, "")])


def _secret(name: str) -> bytes:
    return name.encode() + bytes(range(256)) * 40


def _everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize(
    "words",
    [["--session", "session-o"], ["--account", "account-old"], ["--before", "2025-01-01"]],
    ids=["session", "account", "before"],
)
def test_what_is_chosen_goes_and_the_rest_stays(
    cache: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert b"of old" in _everything(cache)
    assert main(["purge", *words, "--yes"]) == 0
    assert "1 archived outputs, 1 decisions, 1 recorded sessions" in capsys.readouterr().out
    left = _everything(cache)
    for trace in (b"title of old", b"decided by old", b"note of old", b"of_old.py"):
        assert trace not in left
    for trace in (b"title of new", b"decided by new", b"note of new", b"of_new.py"):
        assert trace in left
    assert (b"tool_of_old" in left) is (words[0] != "--before"), "tool calls belong to no session"


def test_all_leaves_nothing(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cache / "archive.sqlite.ruined-1").write_bytes(b"once an archive of old")
    with closing(begin(cache.parent / "state" / "agent", cache, "m", "a task of old", "1")) as begun:
        begun.close()
    assert main(["purge", "--all", "--yes"]) == 0
    told = capsys.readouterr().out
    assert told == (
        "Removed: 2 archived outputs, 2 decisions, 2 recorded sessions, 1 agent sessions, 2 tool calls,"
        " 1 damaged files.\n"
    )
    for trace in (b"of old", b"of_old", b"of new", b"of_new"):
        assert trace not in _everything(cache.parent)
    assert main(["purge"]) == 0
    assert capsys.readouterr().out.startswith("0 sessions, 0 archived outputs\n")


def test_without_an_option_it_says_what_is_kept(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["purge"]) == 0
    first, *accounts, last = capsys.readouterr().out.splitlines()
    assert first == "2 sessions, 2 archived outputs"
    assert [line.split()[1] for line in accounts] == ["account-new", "account-old"]
    assert "--before" in last


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--all"], "Pass --yes"),
        (["--session", "session", "--yes"], "2 sessions begin with"),
        (["--session", "nobody", "--yes"], "No session named"),
        (["--account", "", "--yes"], "begin with"),
        (["--before", "yesterday", "--yes"], "Write 2026-01-31"),
    ],
)
def test_what_is_not_clear_removes_nothing(cache: Path, words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        main(["purge", *words])
    with closing(Turns(cache / "turns.sqlite")) as turns:
        assert turns.sessions() == ["session-old", "session-new"]


def test_a_session_that_an_agent_works_on_stays_and_is_named(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(begin(cache.parent / "state" / "agent", cache, "m", "task", "1")) as working:
        assert main(["purge", "--session", working.id, "--yes"]) == 1
        assert working.id in capsys.readouterr().err
        assert working.path.exists()


def test_a_running_gateway_goes_on_and_begins_the_record_anew(cache: Path) -> None:
    ledger = LedgerFile(cache / "ledger.sqlite", LedgerEntry, Branch)
    archive = Archive(cache / "archive.sqlite", 10**8)
    engine = EngineAdapter(single_engine(ConversationEngine(ledger, archive, lambda: 0.0, counter())))
    history = TurnRecorder(TurnAccount(Turns(cache / "turns.sqlite")))

    async def scene(where: Stage) -> None:
        log = "\n".join(f"12:00:{n % 60:02} INFO step {n} finished without a word" for n in range(300))
        messages: list[object] = [{"role": "user", "content": "begin"}]
        for turn in range(6):
            if turn == 3:
                assert main(["purge", "--all", "--yes"]) == 0
                assert archive.entries() == []
            call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": f"make {turn}"}}
            result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": f"{turn}\n{log}"}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
            body = json.dumps({"model": "claude-sonnet-4-5", "messages": messages}).encode()
            status, _, _ = await where.post("/v1/messages", body)
            assert status == 200
            assert len(where.upstream.asked[-1].body) < len(body)
        assert 3 <= len(archive.entries()) <= 6, "the client sends the older ones too, which may be left out anew"

    play(
        scene,
        lambda asked: ScriptedAnswer((b'{"usage":{"input_tokens":9,"output_tokens":2}}',)),
        engine,
        history=history,
    )
    with closing(Spending(cache / "turns.sqlite")) as spending:
        (session,) = spending.sessions()
    assert 3 <= session.turns <= 4, "a turn that was under way may be written after the purge"
