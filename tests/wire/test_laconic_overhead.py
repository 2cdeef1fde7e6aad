"""What stands in a request only because of us, in the ways in which hosts name our tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from laconic.wire.formats import format_named
from laconic.wire.laconic_overhead import LaconicOverhead, ours
from laconic.wire.parsed_request import parse

Json = dict[str, Any]


def _chat(tools: list[Json], messages: list[Json]) -> LaconicOverhead:
    body = {"model": "m", "tools": tools, "messages": [{"role": "user", "content": "go"}, *messages]}
    return ours(parse(format_named("chat"), json.dumps(body).encode()), len)


@pytest.mark.parametrize(
    ("tool", "counts"),
    [
        ({"name": "mcp__laconic__search"}, True),
        ({"type": "function", "function": {"name": "laconic_search"}}, True),
        ({"type": "namespace", "name": "mcp__laconic", "tools": [{"name": "search"}]}, True),
        ({"name": "laconic.read"}, True),
        ({"name": "laconically"}, False),
        ({"name": "Read", "description": "laconic"}, False),
        ({"name": "search"}, False),
    ],
)
def test_schemas_of_our_tools_are_ours(tool: Json, counts: bool) -> None:
    assert _chat([{"name": "other"}, tool], []) == LaconicOverhead(len(json.dumps(tool)) if counts else 0)


def _exchange(*calls: tuple[str, Json]) -> list[Json]:
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "text"} for n in range(len(calls))]
    return [{"role": "assistant", "content": None, "tool_calls": made}, *results]


RECALL = ("laconic_recall", {"ref": "4f2a9c1d"})
SHELL = ("bash", {"command": "cd x && laconic recall 4f2a9c1d"})
READ = ("read", {"path": "recall.py"})


@pytest.mark.parametrize("call", [RECALL, SHELL])
def test_a_recall_is_ours_and_the_request_that_brings_it_back(call: tuple[str, Json]) -> None:
    found = _chat([], _exchange(call))
    assert found.recall
    assert found.tokens > 80


def test_a_recall_beside_other_calls_costs_no_request() -> None:
    both, read = _chat([], _exchange(RECALL, READ)), _chat([], _exchange(READ))
    assert (both.recall, read.recall) == (False, False)
    assert both.tokens > 0
    assert read.tokens == 0


def test_an_earlier_recall_stays_ours() -> None:
    later = _chat([], [*_exchange(RECALL), *_exchange(READ)])
    assert (later.recall, later.tokens) == (False, _chat([], _exchange(RECALL)).tokens)


def test_a_file_that_speaks_of_recalls_is_not_ours() -> None:
    message = {"role": "user", "content": "run `laconic recall 4f2a9c1d` please"}
    assert _chat([], [*_exchange(READ), message]) == LaconicOverhead()


@pytest.mark.parametrize(("around", "whole"), [("# Servers\n\n", True), ("word " * 400, False)])
def test_instructions_count_with_the_words_that_introduce_them(around: str, whole: bool) -> None:
    text = "laconic: ask for what you need. " * 5
    message = {"role": "user", "content": [{"type": "text", "text": f"{around}{text}"}]}
    body = json.dumps({"model": "m", "messages": [message]}).encode()
    found = ours(parse(format_named("anthropic"), body), len, (text.encode(),))
    block = len(json.dumps(message["content"][0]))
    assert found.tokens == block if whole else len(text) < found.tokens < block


@pytest.mark.parametrize(("other", "counts"), [("Read", True), ("mcp__tickets__list", False)])
def test_tools_that_a_host_adds_for_servers_are_ours_where_we_are_the_only_one(other: str, counts: bool) -> None:
    own, host = {"name": "mcp__laconic__search"}, {"name": "list_mcp_resources"}
    found = _chat([{"name": other}, own, host], [])
    assert found == LaconicOverhead(len(json.dumps(own)) + (len(json.dumps(host)) if counts else 0))
