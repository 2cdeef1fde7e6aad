"""Recorded sessions of several agents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from laconic.errors import UsageError
from laconic.sessions.transcripts import transcripts

CALLS: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "go"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x.py"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
]
CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "Bash", "arguments": '{"command":"ls"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "x.py"},
    {"role": "assistant", "content": "done"},
]
CODEX = [
    {"type": "session_meta", "payload": {"id": "s"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call", "call_id": "a", "name": "Bash", "arguments": '{"command":"ls"}'},
    },
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "a", "output": "x.py"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    },
]
OPENCODE = [
    {"info": {"role": "user"}, "parts": [{"type": "text", "text": "go"}]},
    {
        "info": {"role": "assistant"},
        "parts": [
            {
                "type": "tool",
                "callID": "a",
                "tool": "Bash",
                "state": {"input": {"command": "ls"}, "output": "x.py", "status": "completed"},
            },
            {"type": "text", "text": "done"},
        ],
    },
]
CLAUDE = [{"type": m["role"], "message": m, "uuid": n} for n, m in enumerate(CALLS)]


@pytest.mark.parametrize("rows", [CLAUDE, CODEX, OPENCODE, CHAT], ids=["claude", "codex", "opencode", "chat"])
def test_logs_of_agents_become_the_same_messages(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (found,) = transcripts(tmp_path)
    assert found.messages == CALLS


def test_a_session_that_opencode_exports_is_one_file_with_parts(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"info": {"id": "ses_1", "title": "t"}, "messages": OPENCODE}))
    (found,) = transcripts(tmp_path)
    assert found.messages == CALLS


def test_patches_and_shells_of_codex_are_calls(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "custom_tool_call", "call_id": "a", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "Done"},
        {"type": "local_shell_call", "call_id": "b", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "b", "output": "x.py"},
    ]
    rows = [{"type": "response_item", "payload": item} for item in items]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (found,) = transcripts(tmp_path)
    content = [block for message in found.messages for block in message["content"]]  # type: ignore[attr-defined]
    assert [block["type"] for block in content] == ["text", "tool_use", "tool_result", "tool_use", "tool_result"]
    assert content[1]["input"] == {"input": "*** Begin Patch"}
    assert content[3]["input"] == {"type": "exec", "command": ["ls"]}


def test_requests_and_compressed_corpora_are_read(tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({"id": name, "split": "dev", "messages": CHAT}) for name in ("a/1", "a/2"))
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (tmp_path / "t.json").write_text(json.dumps({"model": "m", "messages": CALLS}))
    found = list(transcripts(tmp_path))
    assert [(one.name, one.split) for one in found] == [("a/1", "dev"), ("a/2", "dev"), ("t", "")]
    assert all(one.messages == CALLS for one in found)


def test_a_call_without_its_result_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"messages": CHAT[:3]}))
    (found,) = transcripts(tmp_path / "t.json")
    assert json.dumps(found.messages).count('"type": "text"') == 2
    assert "tool_use" not in json.dumps(found.messages)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no"):
        list(transcripts(tmp_path / "none"))
