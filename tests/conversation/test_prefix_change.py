"""The first part of a prompt that changed is named, and shown as a short diff without its content."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from laconic.conversation.prefix_change import PrefixChange, find_change
from laconic.wire.fingerprint import FingerprintReader, RequestFingerprint
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

Json = dict[str, Any]


def _tool(name: str, about: str = "") -> Json:
    return {"name": name, "description": about, "input_schema": {"type": "object", "properties": {}}}


def _body(**fields: object) -> Json:
    system = "\n".join(f"rule {number}" for number in range(30))
    body: Json = {"model": "m", "tools": [_tool("read"), _tool("grep"), _tool("write")], "system": system}
    return {**body, "messages": _messages(6), **fields}


def _messages(turns: int) -> list[Json]:
    found: list[Json] = [{"role": "user", "content": "Fix it"}]
    for number in range(turns):
        found.append({"role": "assistant", "content": [{"type": "text", "text": f"step {number}"}]})
        found.append({"role": "user", "content": [{"type": "text", "text": f"go on {number}"}]})
    return found


def _read(body: Json, format: str = "anthropic") -> RequestFingerprint:
    return FingerprintReader().read(parse(format_named(format), json.dumps(body).encode()))


def _change(before: Json, now: Json, format: str = "anthropic") -> PrefixChange:
    return find_change(_read(before, format), _read(now, format))


def test_new_text_is_no_change() -> None:
    assert _change(_body(), _body(messages=_messages(9))) == PrefixChange()


def test_tools_are_shown_by_name() -> None:
    tools = [_tool("grep"), _tool("write", "anew"), _tool("mcp__new__ask")]
    assert _change(_body(), _body(tools=tools)) == PrefixChange("tools", "+mcp__new__ask -read ~write")


def test_another_order_of_tools_is_no_change_of_tools() -> None:
    tools = [_tool("read"), _tool("write"), _tool("grep")]
    found = _change(_body(), _body(tools=tools))
    assert (found.part, found.detail) == ("tools_order", "same 3 tools; the first that moved is write")


def test_other_bytes_of_the_same_tool_are_no_change_of_tools() -> None:
    tools = [dict(reversed(_tool("read").items())), _tool("grep"), _tool("write")]
    assert _change(_body(), _body(tools=tools)).part == "tools_form"


def test_a_cache_mark_on_a_tool_is_no_change() -> None:
    tools = [_tool("read"), _tool("grep"), {**_tool("write"), "cache_control": {"type": "ephemeral"}}]
    assert _change(_body(), _body(tools=tools)) == PrefixChange()


def test_the_line_of_the_system_prompt_is_named() -> None:
    lines = _body()["system"].split("\n")
    lines[11] = "today is Tuesday"
    found = _change(_body(), _body(system=[{"type": "text", "text": "\n".join(lines)}]))
    assert found == PrefixChange("system", "line 12 of 30")


def test_the_system_prompt_may_be_a_message() -> None:
    def body(day: str) -> Json:
        return {"model": "m", "messages": [{"role": "system", "content": f"Work.\n{day}"}, *_messages(2)]}

    assert _change(body("Monday"), body("Tuesday"), "chat") == PrefixChange("system", "line 2 of 2")


def test_an_old_message_that_changed_is_found() -> None:
    messages = _messages(7)
    messages[4] = {"role": "user", "content": [{"type": "text", "text": "cleared"}]}
    assert _change(_body(), _body(messages=messages)) == PrefixChange("message", "block 5 of 13; 1 changed or gone")


def test_a_history_that_was_cut_back_was_rewound() -> None:
    messages = [*_messages(4), {"role": "assistant", "content": "other"}]
    assert _change(_body(), _body(messages=messages)).part == "rewind"


def test_a_summary_in_the_place_of_a_history_is_a_compaction() -> None:
    messages = [{"role": "user", "content": "We did much."}]
    assert _change(_body(), _body(messages=messages)) == PrefixChange("compaction", "13 blocks became 1")


def _mark(messages: list[Json]) -> list[Json]:
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return messages


def test_a_mark_out_of_reach_is_found() -> None:
    found = _change(_body(messages=_mark(_messages(6))), _body(messages=_mark(_messages(18))))
    assert found == PrefixChange("marks", "the next mark is 24 blocks on; providers look back 20")
    assert _change(_body(messages=_mark(_messages(6))), _body(messages=_mark(_messages(16)))) == PrefixChange()


def test_a_fingerprint_holds_no_content() -> None:
    written = msgspec.msgpack.encode(_read(_body()))
    for text in (b"rule", b"step", b"Fix it"):
        assert text not in written
    assert b"grep" in written
