"""Traces and metrics over OTLP, read by a collector of our own: the names of the conventions, and no content."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gateway.stage import stage
from tests.serving.collector import Collector, attributes, collecting

from laconic.config import Settings, child_environment
from laconic.errors import BadSetting
from laconic.gateway.scripted_upstream import ScriptedAnswer
from laconic.serving.telemetry import Telemetry, TracedCall, open_telemetry

ASKED = json.dumps(
    {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "SECRET-TEXT"}]}
).encode()
TRACE = "0af7651916cd43dd8448eb211c80319c"
USAGE = (
    b'{"content":[],"usage":{"input_tokens":90,"cache_read_input_tokens":7,"output_tokens":10},"x":"SECRET-ANSWER"}'
)


CALLS = (
    (
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    ),
    ("tools/call", {"name": "search", "arguments": {"query": "find_me SECRET-TEXT"}}),
    ("tools/call", {"name": "read", "arguments": {"places": ["SECRET-FILE.py"]}}),
)


def _settings(settings: Settings, url: str) -> Settings:
    return Settings({**settings, "telemetry.otlp": url})


async def _ask_once(telemetry: Telemetry | None, answer: ScriptedAnswer, path: str, body: bytes) -> None:
    async with asyncio.timeout(30), stage(lambda _: answer, telemetry=telemetry) as where:
        parent = f"00-{TRACE}-b7ad6b7169203331-01"
        status, _, _ = await where.post(path, body, x_api_key="SECRET-KEY", traceparent=parent)
        assert status == answer.status


def play(settings: Settings, answer: ScriptedAnswer, path: str = "/v1/messages", body: bytes = ASKED) -> Collector:
    """One request through a gateway with telemetry; what the collector got until the gateway had ended."""
    with collecting() as collector:
        telemetry = open_telemetry(_settings(settings, collector.url), "laconic-gateway")
        asyncio.run(_ask_once(telemetry, answer, path, body))
    return collector


def test_a_request_is_three_spans_in_the_trace_of_its_client(settings: Settings) -> None:
    got = play(settings, ScriptedAnswer((USAGE,)))
    whole, own, asked = (got.span(name) for name in ("POST anthropic", "laconic prepare", "chat claude-sonnet-4-5"))
    assert got.services == {"laconic-gateway"}
    assert {span.trace_id.hex() for span in got.spans} == {TRACE}
    assert whole.parent_span_id.hex() == "b7ad6b7169203331"
    assert own.parent_span_id == asked.parent_span_id == whole.span_id
    assert whole.start_time_unix_nano <= own.end_time_unix_nano <= asked.start_time_unix_nano
    assert asked.end_time_unix_nano == whole.end_time_unix_nano
    about = attributes(asked)
    assert about["gen_ai.operation.name"] == "chat"
    assert about["gen_ai.provider.name"] == "anthropic"
    assert about["gen_ai.request.model"] == "claude-sonnet-4-5"
    assert about["gen_ai.usage.input_tokens"] == 97
    assert about["gen_ai.usage.cache_read.input_tokens"] == 7
    assert about["gen_ai.usage.output_tokens"] == 10
    assert about["gen_ai.conversation.id"]
    assert (about["server.address"], attributes(whole)["http.response.status_code"]) == ("127.0.0.1", 200)


def test_metrics_have_the_names_of_the_conventions(settings: Settings) -> None:
    got = play(settings, ScriptedAnswer((USAGE,)))
    tokens = {about["gen_ai.token.type"]: point.sum for about, point in got.points("gen_ai.client.token.usage")}
    assert tokens == {"input": 97, "output": 10}
    ((about, point),) = got.points("gen_ai.client.operation.duration")
    assert (point.count, about["gen_ai.request.model"]) == (1, "claude-sonnet-4-5")
    assert got.metrics["gen_ai.client.operation.duration"].unit == "s"
    assert [point.count for _, point in got.points("laconic.prepare.duration")] == [1]
    ((about, point),) = got.points("laconic_requests")
    assert (about["status"], point.as_double or point.as_int) == ("200", 1)


def test_nothing_that_was_said_leaves(settings: Settings) -> None:
    for answer in (ScriptedAnswer((USAGE,)), ScriptedAnswer((b'{"error":"SECRET-ANSWER"}',), status=500)):
        assert b"SECRET" not in play(settings, answer).raw


def test_a_refusal_is_an_error_and_names_no_model_in_metrics(settings: Settings) -> None:
    """Whoever makes up models cannot fill a collector with them."""
    got = play(settings, ScriptedAnswer((b'{"error":{}}',), status=404))
    assert got.span("chat claude-sonnet-4-5").status.code == 2
    ((about, _),) = got.points("gen_ai.client.operation.duration")
    assert about["error.type"] == "404"
    assert "gen_ai.request.model" not in about


def test_what_is_no_conversation_is_one_span(settings: Settings) -> None:
    got = play(settings, ScriptedAnswer((b"{}",)), "/v1/files", b"{}")
    assert [span.name for span in got.spans] == ["POST pass"]
    assert "gen_ai.client.token.usage" not in got.metrics


def test_gemini_has_its_own_names(settings: Settings) -> None:
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}).encode()
    got = play(settings, ScriptedAnswer((b"{}",)), "/v1beta/models/gemini-2.5-pro:generateContent", body)
    about = attributes(got.span("generate_content gemini-2.5-pro"))
    assert about["gen_ai.provider.name"] == "gcp.gemini"


class Broken:
    """Telemetry that fails."""

    def record_model_call(self, call: TracedCall) -> None:
        raise RuntimeError("no")

    def record_tool_call(self, method: str, tool: str, seconds: float, fault: str) -> None: ...

    def watch(self, name: str, about: str, read: object) -> None: ...

    def close(self) -> None: ...


def test_a_failure_of_telemetry_is_not_the_clients() -> None:
    asyncio.run(_ask_once(Broken(), ScriptedAnswer((USAGE,)), "/v1/messages", ASKED))


def test_it_is_off_by_default_and_loads_nothing(settings: Settings) -> None:
    assert open_telemetry(settings, "x") is None
    with pytest.raises(BadSetting, match="collector"):
        open_telemetry(_settings(settings, "collector:4317"), "x")
    words = "import laconic.cli.commands.gateway, laconic.gateway.app, sys; print('opentelemetry.sdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words], capture_output=True, check=True).stdout == b"False\n"


def test_a_collector_that_is_away_holds_nobody_up(settings: Settings) -> None:
    """The gateway answers and ends; what could not be sent is lost."""
    telemetry = open_telemetry(_settings(settings, "http://127.0.0.1:9"), "laconic-gateway")
    asyncio.run(_ask_once(telemetry, ScriptedAnswer((USAGE,)), "/v1/messages", ASKED))


def test_an_mcp_server_traces_its_tools(tmp_path: Path) -> None:
    """The whole program on standard input: spans with the names for MCP, without what was asked or answered."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def find_me():\n    return 'SECRET-ANSWER'\n")
    lines = []
    for number, (method, params) in enumerate(CALLS):
        lines.append(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    with collecting() as collector:
        own = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_STATE_DIR": str(tmp_path / "state")}
        own["LACONIC_TELEMETRY_OTLP"] = collector.url
        words = [sys.executable, "-m", "laconic", "mcp", "--root", str(tmp_path / "code")]
        process = subprocess.Popen(
            words, env=child_environment(own), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in lines:
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
                assert b'"result"' in process.stdout.readline()
            process.stdin.close()
    assert collector.services == {"laconic-mcp"}
    about = attributes(collector.span("tools/call search"))
    assert about["mcp.method.name"] == "tools/call"
    assert about["gen_ai.tool.name"] == "search"
    assert "error.type" not in about
    failed = collector.span("tools/call read")
    assert (attributes(failed)["error.type"], failed.status.code) == ("tool_error", 2)
    found = {}
    for labels, point in collector.points("mcp.server.operation.duration"):
        found[labels.get("gen_ai.tool.name"), labels.get("error.type")] = point.count
    assert found["search", None] == 1
    assert found["read", "tool_error"] == 1
    assert b"SECRET" not in collector.raw
