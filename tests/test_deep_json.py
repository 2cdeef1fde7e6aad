"""Foreign JSON and TOML may be nested without end: every reader says so or passes it by, none breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.clients import jsonc, toml_tables
from laconic.config import Settings, load
from laconic.errors import BadSetting, MalformedRequest, UsageError
from laconic.index.project import project
from laconic.reduce.findings import read as read_findings
from laconic.reduce.text import reduce_text
from laconic.sessions.model_memory import Capabilities
from laconic.sessions.trajectories import begin, resume
from laconic.sessions.transcripts import transcripts
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic.wire.json_spans import members, value
from laconic.wire.messages import decode_arguments

DEEP = [
    "[" * 100_000 + "]" * 100_000,
    "[" * 100_000,
    '{"a":' * 100_000 + "1" + "}" * 100_000,
    '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
]
pytestmark = pytest.mark.parametrize("text", DEEP, ids=["array", "open", "object", "inside"])


def test_reports(text: str) -> None:
    with pytest.raises(UsageError, match="no known tool"):
        read_findings(text)


def test_reduction(text: str) -> None:
    assert reduce_text(text, cost=len).text
    assert reduce_text(f'{{"type": "x"}}\n{text}\n{{"type": "y"}}\n', cost=len).text


def test_transcripts_and_sessions(text: str, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(f'{{"role": "user", "content": "hello"}}\n{text}\n')
    assert len(list(transcripts(file))) == 1
    begun = begin(tmp_path / "sessions", tmp_path, "model", "task", "1")
    with begun.path.open("a") as rows:
        rows.write(f"{text}\n")
    begun.close()
    resume(tmp_path / "sessions", begun.id, tmp_path).close()
    (tmp_path / "models.json").write_text(text)
    assert Capabilities(tmp_path / "models.json").recall("x") is None


def test_wire(text: str) -> None:
    assert decode_arguments(text, truncated=False)[1]
    with pytest.raises(MalformedRequest):
        value(text.encode())
    if text.startswith("{"):
        with pytest.raises(MalformedRequest):
            members(text.encode())


def test_settings_and_clients(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"x = {text}\n")
    with pytest.raises(BadSetting):
        load(environ={}, file=file)
    with pytest.raises(UsageError, match="not JSON"):
        jsonc.put(text, ("mcpServers", "laconic"), {})
    with pytest.raises(UsageError, match="not TOML"):
        toml_tables.put(f"x = {text}\n", ("mcp_servers", "laconic"), {})


def test_edits_of_the_command_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not JSON"):
        main(["edit", "--root", str(tmp_path), text])


def test_manifests_and_calls(text: str, tmp_path: Path, settings: Settings) -> None:
    assert project("package.json", text) is None
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "package.json").write_text(text)
    (tmp_path / "code" / "a.ts").write_text('import { b } from "other";\nb();\n')
    runtime = ToolRuntime(tmp_path / "code", settings, tools())
    try:
        assert not runtime.call("map", {}).failed
        assert not runtime.call("search", {"query": "b", "in": "refs"}).failed
        assert not runtime.call("trace", {"symbol": "b"}).text.startswith("Traceback")
        assert runtime.call("read", {"targets": text}).failed
    finally:
        runtime.close()
