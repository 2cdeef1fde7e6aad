"""Shapes that real clients send, one test each: pairing, order, thinking, cache marks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.tool_exchanges import orphans
from laconic.wire.turns_and_blocks import Block, Change, DropBlock, InsertMessage, SetInput, SetText

Json = dict[str, Any]


def _read(name: str, items: list[Json], **fields: object) -> ParsedRequest:
    return parse(FORMATS[name], json.dumps({FORMATS[name].messages[0]: items, **fields}).encode())


def _again(conversation: ParsedRequest, changes: dict[tuple[int, int], Change]) -> ParsedRequest:
    return parse(conversation.format, conversation.emit(changes))


def _blocks(conversation: ParsedRequest, kind: str) -> list[Block]:
    return [block for turn in conversation.turns for block in turn.blocks if block.kind == kind]


def _use(id: str, name: str = "Read", **input: object) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def _result(id: str, content: object = "out", **more: object) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


USER: Json = {"role": "user", "content": "task"}


def test_01_a_single_400_kb_result_is_the_last_message() -> None:
    big = "x" * 400_000
    talk = _read(
        "anthropic",
        [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [_result("a", big)]}],
    )
    cut = _again(talk, {(2, 0): SetText("short")})
    assert cut.faults() == []
    assert len(cut.body) < 1000
    assert _blocks(cut, "result")[0].id == "a"


def test_03_of_three_parallel_calls_only_the_middle_result_changes() -> None:
    results = [_result("a", "1"), _result("b", "2" * 9000), _result("c", "3")]
    talk = _read(
        "anthropic",
        [USER, {"role": "assistant", "content": [_use(i) for i in "abc"]}, {"role": "user", "content": results}],
    )
    cut = _again(talk, {(2, 1): SetText("cut")})
    assert [block.text for block in _blocks(cut, "result")] == ["1", "cut", "3"]
    assert cut.turns[2].blocks[0].raw == talk.turns[2].blocks[0].raw
    assert cut.turns[2].blocks[2].raw == talk.turns[2].blocks[2].raw


def test_04_an_exchange_holds_all_results_of_its_batch() -> None:
    """A cut can not fall between results: the exchange names all of them, also in separate messages."""
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in "abc"]
    tools = [{"role": "tool", "tool_call_id": i, "content": i} for i in "cab"]
    talk = _read("chat", [USER, {"role": "assistant", "content": None, "tool_calls": calls}, *tools])
    (exchange,) = talk.exchanges
    assert [result.text for _, result in exchange.pairs if result] == ["a", "b", "c"]
    assert {at[0] for at in exchange.members} == {1, 2, 3, 4}


@pytest.mark.parametrize("tail", [[], [{"role": "system", "content": "reminder"}]], ids=["last", "before-a-reminder"])
def test_05_an_unanswered_call_at_the_end_is_an_open_exchange(tail: list[Json]) -> None:
    talk = _read("anthropic", [USER, {"role": "assistant", "content": [_use("a")]}, *tail])
    assert not talk.exchanges[0].complete


def test_06_a_call_answered_by_a_denial_is_answered() -> None:
    denied = _result("a", "The user does not want this.", is_error=True)
    talk = _read(
        "anthropic", [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [denied]}]
    )
    assert talk.exchanges[0].complete
    assert talk.faults() == []


def test_07_an_orphan_result_is_known_and_passes() -> None:
    talk = _read("anthropic", [{"role": "user", "content": [_result("ghost")]}])
    assert [block.id for block in orphans(talk.turns, talk.exchanges)] == ["ghost"]
    assert "pairing" in {fault.rule for fault in talk.faults()}
    assert talk.emit() == talk.body


def test_08_duplicate_call_ids_across_turns_are_scoped_by_turn() -> None:
    items: list[Json] = [USER]
    for number in range(2):
        items += [
            {"role": "assistant", "content": [_use("same", n=number)]},
            {"role": "user", "content": [_result("same", f"r{number}")]},
        ]
    talk = _read("anthropic", items)
    assert [[r.text for _, r in e.pairs if r] for e in talk.exchanges] == [["r0"], ["r1"]]
    assert len({block.key for block in _blocks(talk, "result")}) == 2
    assert talk.faults() == []


def test_08_duplicate_call_ids_within_a_turn_are_a_fault_and_pair_in_order() -> None:
    results = [_result("same", "1"), _result("same", "2")]
    talk = _read(
        "anthropic",
        [USER, {"role": "assistant", "content": [_use("same"), _use("same")]}, {"role": "user", "content": results}],
    )
    assert [r.text for _, r in talk.exchanges[0].pairs if r] == ["1", "2"]
    assert "identity" in {fault.rule for fault in talk.faults()}


def test_09_repeated_gemini_calls_of_one_name_pair_in_order() -> None:
    calls = [{"functionCall": {"name": "read", "args": {"n": n}}} for n in range(3)]
    results = [{"functionResponse": {"name": "read", "response": {"output": str(n)}}} for n in range(3)]
    talk = _read(
        "gemini",
        [
            {"role": "user", "parts": [{"text": "t"}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": results},
        ],
    )
    assert [result.text for _, result in talk.exchanges[0].pairs if result] == ["0", "1", "2"]
    assert talk.faults() == []
    cut = _again(talk, {talk.exchanges[0].results[1].at: SetText("cut")})  # type: ignore[union-attr]
    assert [result.text for _, result in cut.exchanges[0].pairs if result] == ["0", "cut", "2"]


def test_10_a_result_that_is_a_list_with_an_image_keeps_it_on_request() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    content = [{"type": "text", "text": "a", "x": 1}, image, {"type": "text", "text": "b"}]
    talk = _read(
        "anthropic",
        [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [_result("a", content)]}],
    )
    block = talk.turns[2].blocks[0]
    assert (block.text, block.images) == ("a\nb", 1)
    kept = json.loads(talk.emit({block.at: SetText("new", keep_images=True)}))["messages"][2]["content"][0]
    assert kept["content"] == [{"type": "text", "text": "new", "x": 1}, image]
    gone = json.loads(talk.emit({block.at: SetText("new")}))["messages"][2]["content"][0]
    assert gone["content"] == [{"type": "text", "text": "new", "x": 1}]


def test_10_a_result_of_images_alone_becomes_text() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "http://x"}}
    talk = _read(
        "anthropic",
        [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [_result("a", [image])]}],
    )
    assert _blocks(_again(talk, {(2, 0): SetText("an image was here")}), "result")[0].text == "an image was here"


def test_11_the_error_flag_is_kept() -> None:
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [_use("a")]},
            {"role": "user", "content": [_result("a", "boom", is_error=True)]},
        ],
    )
    assert _again(talk, {(2, 0): SetText("stub")}).turns[2].blocks[0].error


def test_12_a_turn_between_call_and_result_is_a_fault_but_pairs() -> None:
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [_use("a")]},
            {"role": "system", "content": "digest"},
            {"role": "user", "content": [_result("a")]},
        ],
    )
    assert talk.exchanges[0].complete
    assert {fault.rule for fault in talk.faults()} == {"order"}


def test_13_assistant_content_null_beside_calls() -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"q": "\\u00e9"}'}}]
    talk = _read(
        "chat",
        [
            USER,
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ],
    )
    assert talk.faults() == []
    assert talk.turns[1].blocks[0].input == {"q": "é"}
    cut = _again(talk, {(1, 0): SetInput({"q": "…"})})
    assert cut.turns[1].blocks[0].input == {"q": "…"}
    assert isinstance(json.loads(cut.body)["messages"][1]["tool_calls"][0]["function"]["arguments"], str)


def test_14_responses_items_form_one_exchange_with_their_reasoning() -> None:
    items: list[Json] = [
        {"role": "user", "content": "task"},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
    ]
    talk = _read("responses", items)
    (exchange,) = talk.exchanges
    assert exchange.turns == (1, 2, 3)
    assert talk.faults() == []
    left = _again(talk, {at: DropBlock() for at in exchange.members})
    assert [turn.raw for turn in left.turns] == [talk.turns[0].raw]


def test_14_responses_calls_that_interleave_with_outputs() -> None:
    items = []
    for id in "ab":
        items += [
            {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": id, "output": id},
        ]
    talk = _read("responses", [{"role": "user", "content": "t"}, *items])
    assert [[r.text for _, r in e.pairs if r] for e in talk.exchanges] == [["a"], ["b"]]


def test_14_codex_shell_and_custom_calls_are_paired() -> None:
    items: list[Json] = [
        {"role": "user", "content": "task"},
        {
            "type": "local_shell_call",
            "call_id": "s",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls"]},
        },
        {"type": "local_shell_call_output", "call_id": "s", "output": "a b"},
        {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "custom_tool_call_output", "call_id": "p", "output": "Done"},
    ]
    talk = _read("responses", items)
    assert talk.faults() == []
    assert [call.name for exchange in talk.exchanges for call in exchange.calls] == ["local_shell", "apply_patch"]
    assert [call.editable for exchange in talk.exchanges for call in exchange.calls] == [False, True]
    assert _again(talk, {(3, 0): SetInput("cut")}).turns[3].blocks[0].input == "cut"


def test_14_codex_hands_over_its_tools_in_an_item_of_the_developer() -> None:
    tools: Json = {"type": "additional_tools", "id": "at", "role": "developer", "tools": [{"type": "namespace"}]}
    talk = _read("responses", [tools, {"role": "user", "content": "task"}])
    assert talk.is_pinned(talk.turns[0].blocks[0])
    assert not talk.turns[0].blocks[0].editable
    assert talk.first_user == 1
    assert talk.faults() == []


def test_15_an_assistant_replayed_as_output_text() -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "id": "m",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}],
    }
    talk = _read("responses", [{"role": "user", "content": "t"}, message, {"role": "user", "content": "go on"}])
    assert (talk.turns[1].role, talk.turns[1].blocks[0].text, talk.turns[1].blocks[0].editable) == (
        "assistant",
        "hi",
        True,
    )


def test_16_consecutive_users_after_a_drop_stay_apart() -> None:
    items: list[Json] = [
        USER,
        {"role": "assistant", "content": [_use("a")]},
        {"role": "user", "content": [_result("a"), {"type": "text", "text": "also"}]},
    ]
    talk = _read("anthropic", items)
    left = _again(talk, {at: DropBlock() for at in talk.exchanges[0].members})
    assert [turn.role for turn in left.turns] == ["user", "user"]
    assert left.turns[0].raw == talk.turns[0].raw
    assert left.turns[1].blocks[0].text == "also"
    assert left.faults() == []


def test_17_a_history_that_starts_with_the_assistant_is_a_fault_where_it_is_one() -> None:
    assert {f.rule for f in _read("anthropic", [{"role": "assistant", "content": "hi"}, USER]).faults()} == {"start"}
    assert _read("chat", [{"role": "assistant", "content": "hi"}, USER]).faults() == []


def test_18_an_empty_text_block_is_a_fault() -> None:
    talk = _read("anthropic", [{"role": "user", "content": [{"type": "text", "text": ""}]}])
    assert {fault.rule for fault in talk.faults()} == {"empty"}


def test_19_system_in_the_middle_and_the_developer_role_are_pinned() -> None:
    talk = _read(
        "chat",
        [
            {"role": "developer", "content": "rules"},
            USER,
            {"role": "system", "content": "more"},
            {"role": "user", "content": "x"},
        ],
    )
    assert [talk.is_pinned(turn.blocks[0]) for turn in talk.turns] == [True, True, True, False]
    assert talk.first_user == 1
    assert talk.faults() == []


def test_19_claude_code_puts_system_into_messages() -> None:
    talk = _read(
        "anthropic",
        [USER, {"role": "system", "content": "reminder"}, {"role": "user", "content": "x"}],
        context_management={"edits": []},
    )
    assert talk.turns[1].role == "system"
    assert talk.is_pinned(talk.turns[1].blocks[0])
    assert talk.emit() == talk.body


@pytest.mark.parametrize(
    "block",
    [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [{"type": "web_search_result", "encrypted_content": "zz"}],
        },
        {"type": "text", "text": "cited", "citations": [{"type": "char_location"}]},
        {"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}},
        {"type": "container_upload", "file_id": "f"},
        {"type": "from_the_future", "text": "?"},
    ],
    ids=lambda block: str(block["type"]),
)
def test_20_server_tools_citations_and_unknown_blocks_pass_untouched(block: Json) -> None:
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [block, {"type": "text", "text": "t"}]},
            {"role": "user", "content": "x"},
        ],
    )
    first = talk.turns[1].blocks[0]
    assert not first.editable
    assert first.kind not in {"call", "result"}
    assert _again(talk, {(1, 1): SetText("changed")}).turns[1].blocks[0].raw == first.raw


THINKING: Json = {"type": "thinking", "thinking": "h\u00e9", "signature": "EqoB+/=="}


@pytest.mark.feature("S10")
def test_21_a_stubbed_result_leaves_thinking_and_signature_byte_exact() -> None:
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [THINKING, _use("a")]},
            {"role": "user", "content": [_result("a", "long" * 99)]},
        ],
    )
    cut = _again(talk, {(2, 0): SetText("stub"), (1, 1): SetInput({"cut": 1})})
    assert cut.turns[1].blocks[0].raw == talk.turns[1].blocks[0].raw
    assert cut.turns[1].blocks[0].kind == "thinking"


@pytest.mark.feature("S10")
def test_22_redacted_thinking_is_never_editable() -> None:
    redacted = {"type": "redacted_thinking", "data": "Eo4D"}
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [redacted, {"type": "text", "text": "t"}]},
            {"role": "user", "content": "x"},
        ],
    )
    assert talk.turns[1].blocks[0].kind == "redacted"
    assert not talk.turns[1].blocks[0].editable


@pytest.mark.feature("S10")
@pytest.mark.parametrize(
    "part",
    [
        {"text": "thought", "thought": True, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "c2ln"},
        {"function_call": {"name": "f", "args": {}}, "thought_signature": "c2ln"},
    ],
    ids=["on-a-thought", "on-the-first-call", "on-an-empty-text", "snake-case"],
)
def test_23_a_gemini_part_with_a_signature_is_never_edited(part: Json) -> None:
    talk = _read(
        "gemini", [{"role": "user", "parts": [{"text": "t"}]}, {"role": "model", "parts": [part, {"text": "x"}]}]
    )
    assert not talk.turns[1].blocks[0].editable
    assert _again(talk, {(1, 1): SetText("y")}).turns[1].blocks[0].raw == talk.turns[1].blocks[0].raw


def test_24_reasoning_content_of_chat_servers_is_its_own_block() -> None:
    talk = _read(
        "chat",
        [USER, {"role": "assistant", "reasoning_content": "why", "content": "so"}, {"role": "user", "content": "x"}],
    )
    assert [block.kind for block in talk.turns[1].blocks] == ["reasoning", "text"]
    assert _again(talk, {(1, 1): SetText("z")}).turns[1].blocks[0].raw == b'"why"'


def test_26_a_turn_of_reasoning_alone_has_no_exchange() -> None:
    talk = _read("anthropic", [USER, {"role": "assistant", "content": [THINKING]}, {"role": "user", "content": "x"}])
    assert talk.exchanges == ()
    assert talk.faults() == []


def test_27_a_paused_turn_ends_with_server_blocks_and_is_valid() -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    talk = _read("anthropic", [USER, {"role": "assistant", "content": [use]}])
    assert talk.faults() == []


def test_36_cache_marks_stay_where_the_client_put_them() -> None:
    marked = _result("a", "long" * 99, cache_control={"type": "ephemeral"})
    talk = _read(
        "anthropic", [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [marked]}]
    )
    cut = json.loads(talk.emit({(2, 0): SetText("stub")}))
    assert cut["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}


def test_47_a_large_write_is_replaced_in_its_arguments() -> None:
    talk = _read(
        "anthropic",
        [
            USER,
            {"role": "assistant", "content": [_use("a", "Write", path="p", content="x" * 9000)]},
            {"role": "user", "content": [_result("a")]},
        ],
    )
    cut = _again(talk, {(1, 0): SetInput({"path": "p", "content": "[9000 characters]"})})
    assert cut.turns[1].blocks[0].input == {"path": "p", "content": "[9000 characters]"}
    assert len(cut.body) < 500


def test_a_text_as_input_is_one_turn_that_nothing_changes() -> None:
    talk = parse(FORMATS["responses"], b'{"input": "just this"}')
    assert talk.turns[0].blocks[0].text == "just this"
    assert talk.emit() == talk.body


def test_everything_dropped_leaves_the_inserted_message() -> None:
    talk = _read("chat", [USER])
    assert json.loads(talk.emit({(0, 0): DropBlock()}, [InsertMessage(0, "user", "new")]))["messages"] == [
        {"role": "user", "content": "new"}
    ]
