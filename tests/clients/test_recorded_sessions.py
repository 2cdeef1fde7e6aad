"""What each client records of its sessions is understood: messages, model, title, and tokens once each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from laconic.clients.recorded_sessions import find_recorded
from laconic.clients.setup import ClientFolders
from laconic.sessions.recorded.opencode import read_export
from laconic.sessions.recorded.record import RecordedSession, RecordedUsage, moment_at, tokens_at
from laconic.sessions.transcripts import seconds_of

WHEN = "2026-11-16T14:00:00.000Z"


def _write(path: Path, rows: Iterable[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")


def _find(home: Path, since: float = 0.0) -> list[RecordedSession]:
    return list(find_recorded(ClientFolders(home, {"HOME": str(home)}), home / "state", since))


def _usages(session: RecordedSession) -> tuple[RecordedUsage, ...]:
    return tuple(request.usage for request in session.requests)


def _texts(session: RecordedSession) -> list[str]:
    found = []
    for message in session.transcript.messages:
        assert isinstance(message["content"], list)
        found += [block.get("text") or block.get("name") or block.get("content") for block in message["content"]]
    return found


def test_claude_code_writes_the_usage_of_an_answer_into_each_of_its_blocks(tmp_path: Path) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 7, "output_tokens": 5}
    answer = {"id": "m1", "model": "claude-sonnet-4-5", "role": "assistant", "usage": usage}
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "a.py"}
    rows: list[dict[str, object]] = [
        {"message": {"role": "user", "content": "<system-reminder>x</system-reminder>Fix it"}, "cwd": "/p"},
        {"message": {**answer, "content": [{"type": "text", "text": "I look."}]}},
        {"message": {**answer, "content": [call]}},
        {"message": {"role": "user", "content": [result]}},
        {"message": {**answer, "id": "m2", "content": [{"type": "text", "text": "Done."}]}},
        {"message": {**answer, "id": "m3", "content": []}, "isSidechain": True},
    ]
    _write(
        tmp_path / ".claude" / "projects" / "-p" / "s.jsonl",
        [{"isSidechain": False, **row, "timestamp": WHEN} for row in rows],
    )
    (found,) = _find(tmp_path)
    assert (found.client, found.title, found.project, found.model) == (
        "Claude Code",
        "Fix it",
        "/p",
        "claude-sonnet-4-5",
    )
    assert _usages(found) == (RecordedUsage(3, 20, 7, 5),) * 2
    assert _texts(found)[1:] == ["I look.", "Bash", "a.py", "Done."]


def test_a_sub_agent_of_claude_code_is_a_session(tmp_path: Path) -> None:
    rows = [
        {"isSidechain": True, "timestamp": WHEN, "message": {"role": "user", "content": "Look for it"}},
        {"isSidechain": True, "timestamp": WHEN, "message": {"role": "assistant", "content": "Found."}},
    ]
    _write(tmp_path / ".claude" / "projects" / "-p" / "agent-1.jsonl", rows)
    (found,) = _find(tmp_path)
    assert found.title == "Look for it"


def test_codex_counts_after_each_answer_and_sometimes_twice(tmp_path: Path) -> None:
    def item(role: str, text: str) -> dict[str, object]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    def count(total: int) -> dict[str, object]:
        last = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9, "total_tokens": 109}
        return {
            "type": "token_count",
            "info": {"total_token_usage": {"total_tokens": total}, "last_token_usage": last},
        }

    rows = [
        {"type": "session_meta", "payload": {"cwd": "/p"}},
        {"type": "turn_context", "payload": {"model": "gpt-5"}},
        {"type": "response_item", "payload": item("user", "<environment_context>x</environment_context>")},
        {"type": "response_item", "payload": item("user", "Fix it")},
        {"type": "response_item", "payload": item("assistant", "Done.")},
        {"type": "event_msg", "payload": count(109)},
        {"type": "event_msg", "payload": count(109)},
        {"type": "event_msg", "payload": count(218)},
    ]
    path = tmp_path / ".codex" / "sessions" / "2026" / "11" / "16" / "rollout-1.jsonl"
    _write(path, [{**row, "timestamp": WHEN} for row in rows])
    (found,) = _find(tmp_path)
    assert (found.client, found.title, found.project, found.model) == ("Codex", "Fix it", "/p", "gpt-5")
    assert _usages(found) == (RecordedUsage(40, 60, 0, 9),) * 2


def test_opencode_keeps_messages_and_parts_in_a_database(tmp_path: Path) -> None:
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE session (id, title, directory, time_updated)")
        base.execute("CREATE TABLE message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE part (id, message_id, session_id, data)")
        base.execute("INSERT INTO session VALUES ('s', 'Dates', '/p', 1794839198720)")
        tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 30, "write": 4}}
        said: dict[str, list[dict[str, object]]] = {
            "user": [{"type": "text", "text": "Fix it"}],
            "assistant": [{"type": "text", "text": "Done."}, {"type": "step-finish", "tokens": tokens}],
        }
        for number, (role, parts) in enumerate(said.items()):
            info = {"role": role, "modelID": "claude-sonnet-4-5"}
            base.execute("INSERT INTO message VALUES (?, 's', ?, ?)", (f"m{number}", number, json.dumps(info)))
            for at, part in enumerate(parts):
                row = (f"p{number}{at}", f"m{number}", json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, 's', ?)", row)
    (found,) = _find(tmp_path)
    assert (found.client, found.title, found.model) == ("opencode", "Dates", "claude-sonnet-4-5")
    assert _usages(found) == (RecordedUsage(10, 30, 4, 7),)
    assert _texts(found) == ["Fix it", "Done."]
    assert _find(tmp_path, since=1794839199) == []


def test_gemini_writes_changes_and_the_last_of_a_message_counts(tmp_path: Path) -> None:
    call = {"id": "c", "name": "read_file", "args": {"path": "a"}, "result": [{"functionResponse": {"response": 1}}]}
    tokens = {"input": 100, "cached": 60, "output": 5, "thoughts": 3}
    answer = {"id": "2", "type": "gemini", "content": "I look.", "model": "gemini-3-pro", "timestamp": WHEN}
    rows = [
        {"sessionId": "x", "kind": "main"},
        {"$set": {"messages": [{"id": "1", "type": "user", "timestamp": WHEN, "content": [{"text": "Fix it"}]}]}},
        {**answer, "content": "I"},
        {**answer, "toolCalls": [call], "tokens": tokens},
        {"id": "3", "type": "info", "content": "noise"},
    ]
    _write(tmp_path / ".gemini" / "tmp" / "p" / "chats" / "session-1.jsonl", rows)
    (found,) = _find(tmp_path)
    assert (found.client, found.title, found.model) == ("Gemini CLI", "Fix it", "gemini-3-pro")
    assert _usages(found) == (RecordedUsage(40, 60, 0, 8),)
    assert _texts(found)[:3] == ["Fix it", "I look.", "read_file"]


def test_aider_counts_in_words(tmp_path: Path) -> None:
    (tmp_path / ".aider.chat.history.md").write_text(
        "\n# aider chat started at 2026-11-16 14:00:00\n\n> Main model: gpt-4o with diff edit format\n\n#### Fix it\n\n"
        "I changed a.py.\n\n> Tokens: 2.3k sent, 1.0k cache hit, 120 received. Cost: $0.01 message, $0.01 session.\n"
    )
    (found,) = _find(tmp_path)
    assert (found.client, found.title, found.model) == ("aider", "Fix it", "gpt-4o")
    assert _usages(found) == (RecordedUsage(1_300, 1_000, 0, 120),)


def test_files_that_are_no_sessions_are_passed_over(tmp_path: Path) -> None:
    for path in (".claude/projects/p/x.jsonl", ".codex/sessions/x.jsonl", ".gemini/tmp/p/chats/session-1.json"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"\xff not json\n[1]\n")
    (tmp_path / ".local" / "share" / "opencode").mkdir(parents=True)
    (tmp_path / ".local" / "share" / "opencode" / "opencode.db").write_bytes(b"no database at all, but long enough")
    assert _find(tmp_path) == []


def test_claude_code_tells_when_requests_were_made_and_what_came_between(tmp_path: Path) -> None:
    created = {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5}
    usage = {"cache_creation_input_tokens": 7, "cache_creation": created}
    answer = {"model": "claude-sonnet-4-5", "role": "assistant", "usage": usage, "content": [{"type": "text"}]}
    rows: list[dict[str, object]] = [
        {"message": {"role": "user", "content": "Fix it"}, "timestamp": "2026-11-16T14:00:00Z"},
        {"message": {**answer, "id": "m1"}, "timestamp": "2026-11-16T14:00:09Z"},
        {"message": {**answer, "id": "m1"}, "timestamp": "2026-11-16T14:00:10Z"},
        {"type": "system", "subtype": "compact_boundary", "timestamp": "2026-11-16T14:30:00Z"},
        {"message": {"role": "user", "content": "Summary"}, "timestamp": "2026-11-16T14:30:01Z"},
        {"message": {**answer, "id": "m2", "model": "claude-opus-4-5"}, "timestamp": "2026-11-16T14:30:12Z"},
    ]
    _write(tmp_path / ".claude" / "projects" / "-p" / "s.jsonl", [{"isSidechain": False, **row} for row in rows])
    (found,) = _find(tmp_path)
    first, second = found.requests
    assert second.at - first.at == 1801  # from question to question
    assert (first.compacted, second.compacted) == (False, True)
    assert (first.blocks, second.blocks) == (1, 3)
    assert (first.model, second.model) == ("claude-sonnet-4-5", "claude-opus-4-5")
    assert first.usage.long == 5


def test_codex_tells_when_requests_were_made_and_that_it_compacted(tmp_path: Path) -> None:
    def item(role: str, text: str) -> dict[str, object]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    def count(total: int) -> dict[str, object]:
        last = {"input_tokens": 100, "output_tokens": 9}
        info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    rows: list[dict[str, object]] = [
        {"type": "turn_context", "payload": {"model": "gpt-5"}},
        {"type": "response_item", "payload": item("user", "Fix it"), "timestamp": "2026-11-16T14:00:00Z"},
        {"type": "response_item", "payload": item("assistant", "Done."), "timestamp": "2026-11-16T14:00:20Z"},
        {**count(109), "timestamp": "2026-11-16T14:00:21Z"},
        {"type": "turn_context", "payload": {"model": "gpt-5-mini"}},
        {"type": "compacted", "payload": {"message": "We fixed it."}},
        {"type": "response_item", "payload": item("user", "More"), "timestamp": "2026-11-16T14:10:00Z"},
        {"type": "response_item", "payload": item("assistant", "Done."), "timestamp": "2026-11-16T14:10:20Z"},
        {**count(218), "timestamp": "2026-11-16T14:10:21Z"},
    ]
    _write(tmp_path / ".codex" / "sessions" / "2026" / "11" / "16" / "rollout-1.jsonl", rows)
    (found,) = _find(tmp_path)
    first, second = found.requests
    assert second.at - first.at == 600
    assert [request.model for request in found.requests] == ["gpt-5", "gpt-5-mini"]
    assert [request.compacted for request in found.requests] == [False, True]


def test_pauses_of_opencode_are_known_to_a_replay(tmp_path: Path) -> None:
    def made(at: int) -> dict[str, object]:
        return {"created": at * 1000}

    call = {
        "type": "tool",
        "callID": "c",
        "tool": "bash",
        "state": {"output": "x", "time": {"start": 9000, "end": 70_000}},
    }
    messages = [
        {"info": {"role": "user", "time": made(1)}, "parts": [{"type": "text", "text": "Fix it"}]},
        {"info": {"role": "assistant", "time": made(5)}, "parts": [call, {"type": "step-finish"}]},
        {"info": {"role": "assistant", "time": made(800)}, "parts": [{"type": "text", "text": "Done."}]},
    ]
    session = read_export({"info": {"id": "s"}, "messages": messages})
    assert session.transcript.times == (1.0, 9.0, 70.0, 800.0)
    assert session.requests[0].at == 70.0


def test_times_and_counts_that_nobody_believes_count_as_missing() -> None:
    for text in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "1969-12-31T00:00:00Z", "soon", None):
        assert seconds_of(text) == 0.0
    assert seconds_of("2026-11-16T12:00:00Z") > 0
    row = {"negative": -999_999, "huge": 10**30, "float": 1e308, "nan": float("nan"), "good": 12}
    assert [tokens_at(row, name) for name in row] == [0, 0, 0, 0, 12]
    assert moment_at({"time": {"created": 1_763_000_000_000}}, "time", "created") == 1_763_000_000
    assert moment_at({"time": 10**30}, "time") == 0.0
