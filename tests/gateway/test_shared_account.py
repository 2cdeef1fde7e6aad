"""A team's account: what a request may reach in it, and how much of an answer is reserved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from laconic.exchange.plan import Plan
from laconic.gateway.shared_account import check_shared
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

_UNLIMITED = 128_000


def _check(format: str, body: object) -> Plan:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return check_shared(Plan(raw), parse(format_named(format), raw))


def _anthropic(*content: object, **more: object) -> dict[str, Any]:
    return {"model": "claude-a", "messages": [{"role": "user", "content": list(content) or "hi"}], **more}


def _chat(content: object = "hi", **more: object) -> dict[str, Any]:
    return {"model": "gpt-a", "messages": [{"role": "user", "content": content}], **more}


def _responses(input: object = "hi", **more: object) -> dict[str, Any]:
    return {"model": "gpt-a", "input": input, **more}


def _gemini(*parts: object, **more: object) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts) or [{"text": "hi"}]}], **more}


_FILE = {"type": "file", "file_id": "file_1"}
_KEPT = [
    ("anthropic", _anthropic({"type": "document", "source": _FILE})),
    ("anthropic", _anthropic({"type": "image", "source": _FILE})),
    ("anthropic", _anthropic({"type": "container_upload", "file_id": "file_1"})),
    ("anthropic", _anthropic({"type": "tool_result", "tool_use_id": "t", "content": [{"source": _FILE}]})),
    ("anthropic", _anthropic(container="c_1")),
    ("anthropic", _anthropic(container={"id": "c_1", "skills": [{"skill_id": "s"}]})),
    ("chat", _chat([{"type": "file", "file": {"file_id": "file-1"}}])),
    ("chat", {"model": "gpt-a", "messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]}),
    ("responses", _responses([{"type": "item_reference", "id": "msg_1"}])),
    ("responses", _responses([{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}])),
    ("responses", _responses([{"type": "function_call_output", "output": [{"file_id": "file-1"}]}])),
    ("responses", _responses(tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}])),
    ("responses", _responses(tools=[{"type": "code_interpreter", "container": "cntr_1"}])),
    ("responses", _responses(tools=[{"type": "code_interpreter", "container": {"file_ids": ["file-1"]}}])),
    ("responses", _responses(tools=[{"type": "mcp", "connector_id": "connector_mail"}])),
    ("responses", _responses(previous_response_id="resp_1")),
    ("responses", _responses(Previous_Response_Id="resp_1")),
    ("responses", b'{"model":"gpt-a","input":[{"type":"item\\u005freference","id":"m"}]}'),
    ("gemini", _gemini({"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/a"}})),
    ("gemini", _gemini({"file_data": {"file_uri": "files/a"}})),
    ("gemini", _gemini({"fileData": {"fileUri": "gs://bucket/a"}})),
    ("gemini", _gemini(tools=[{"file_search": {"file_search_store_names": ["fileSearchStores/a"]}}])),
    ("gemini", _gemini(tools=[{"retrieval": {"vertexAiSearch": {"datastore": "d"}}}])),
    ("gemini", _gemini(cached_content="cachedContents/1")),
    ("chat", _chat(models=["gpt-dear"])),
    ("anthropic", _anthropic(fallbacks=[{"model": "claude-dear"}])),
    ("gemini", b'{"contents":[],"generationConfig":{"maxOutputTokens":9,"max_output_tokens":90000}}'),
    ("gemini", b'{"contents":[],"generationConfig":{},"generation_config":{"maxOutputTokens":90000}}'),
]


@pytest.mark.parametrize(("format", "body"), _KEPT)
def test_what_the_account_keeps_for_others_is_out_of_reach(format: str, body: object) -> None:
    assert _check(format, body).refused


_OWN = {"file_id": "f", "container": "c", "vector_store_ids": ["v"], "fileUri": "gs://x", "audio": {"id": 1}}
_PLAIN = [
    ("anthropic", _anthropic({"type": "text", "text": '"file_id": "x", item_reference'})),
    ("anthropic", _anthropic(tools=[{"name": "get", "input_schema": {"type": "object", "properties": _OWN}}])),
    (
        "anthropic",
        {"model": "a", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "input": _OWN}]}]},
    ),
    ("anthropic", _anthropic({"type": "image", "source": {"type": "base64", "data": "aaaa"}})),
    ("chat", _chat(tools=[{"type": "function", "function": {"name": "f", "parameters": {"properties": _OWN}}}])),
    ("chat", _chat(modalities=["audio"], audio={"voice": "alloy", "format": "wav"})),
    ("chat", _chat(response_format={"type": "json_schema", "json_schema": {"schema": {"properties": _OWN}}})),
    ("responses", _responses(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}])),
    ("responses", _responses(previous_response_id=None, background=False)),
    ("gemini", _gemini({"fileData": {"fileUri": "https://www.youtube.com/watch?v=1"}})),
    ("gemini", _gemini({"functionCall": {"name": "f", "args": _OWN}}, {"functionResponse": {"response": _OWN}})),
]


@pytest.mark.parametrize(("format", "body"), _PLAIN)
def test_what_is_the_clients_own_may_have_any_name(format: str, body: object) -> None:
    assert _check(format, body).refused == ""


@pytest.mark.parametrize(
    ("format", "body", "limit"),
    [
        ("anthropic", _anthropic(max_tokens=1000), 1000),
        ("anthropic", _anthropic(), _UNLIMITED),
        ("anthropic", _anthropic(max_tokens=-1_000_000_000), _UNLIMITED),
        ("anthropic", _anthropic(max_tokens=0), _UNLIMITED),
        ("anthropic", _anthropic(max_tokens=True), _UNLIMITED),
        ("anthropic", _anthropic(max_tokens=None), _UNLIMITED),
        ("anthropic", _anthropic(max_tokens=[5]), _UNLIMITED),
        ("anthropic", b'{"messages":[],"max_tokens":1e400}', _UNLIMITED),
        ("chat", _chat(max_tokens=1, max_completion_tokens=5000), 5000),
        ("chat", _chat(max_completion_tokens=1, max_tokens=5000), 5000),
        ("chat", _chat(max_tokens="5000"), 5000),
        ("chat", _chat(max_tokens=100, n=10), 1000),
        ("chat", b'{"messages":[],"max_tokens":100,"n":10.0}', 1000),
        ("chat", _chat(max_tokens=100, n="10"), 1000),
        ("chat", _chat(max_tokens=100, n=2, best_of=10), 1000),
        ("chat", _chat(max_tokens=100, n=-5), 100),
        ("chat", _chat(n=3), 3 * _UNLIMITED),
        ("chat", _chat(N=3, Max_Tokens=7), 21),
        ("responses", _responses(max_output_tokens=9), 9),
        ("gemini", _gemini(generationConfig={"maxOutputTokens": 50, "candidateCount": 2}), 100),
        ("gemini", _gemini(generation_config={"max_output_tokens": 50, "candidate_count": 2}), 100),
        ("gemini", _gemini(generationConfig=None), _UNLIMITED),
        ("gemini", _gemini(generationConfig=[1]), _UNLIMITED),
    ],
)
def test_the_longest_answer_that_may_come_is_reserved(format: str, body: object, limit: int) -> None:
    assert _check(format, body).answer_limit == limit
