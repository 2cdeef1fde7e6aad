"""A result of several texts: each is shortened for itself, and what is no listing stays as the client wrote it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversation.sessions import code, engine, listing, long_session, opened, read, send, turn, user

from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import EngineOptions

Json = dict[str, Any]
REMINDER = "<system-reminder>\nThe file may be newer.\n  1→not code\n  2→not code\n</system-reminder>"


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _replay(one: ConversationEngine, messages: list[Json]) -> PreparedRequest:
    """Every request of a session; the last as it is sent."""
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            send(one, messages[:at])
    return send(one, messages)


def _result(sent: PreparedRequest, id: str) -> list[Json]:
    """The content of a result as it is sent."""
    for each in opened(sent).turns:
        for block in each.blocks:
            if block.kind == "result" and block.id == id:
                content = json.loads(block.raw)["content"]
                assert isinstance(content, list)
                return content
    raise AssertionError(id)


def test_only_the_listing_is_rewritten() -> None:
    content = [_text(listing(code("alpha", 40))), _text(REMINDER)]
    sent = _result(send(engine(), [user("go"), *turn("a", "Read", {"file_path": "a.py"}, content)]), "a")
    assert sent[1:] == content[1:]
    assert "→" not in sent[0]["text"]
    assert "alpha_value_39" in sent[0]["text"]


def test_each_listing_begins_with_its_number() -> None:
    content = [_text(listing(code("alpha", 25))), _text(listing(code("beta", 25), 26))]
    sent = _result(send(engine(), [user("go"), *turn("a", "Read", {"file_path": "a.py"}, content)]), "a")
    assert [piece["text"].split("\t")[0] for piece in sent] == ["1", "26"]


def test_what_is_shown_elsewhere_is_pointed_to_from_the_listing() -> None:
    """The reminder stands behind the pointer, in its own text."""
    content = [_text(listing(code("alpha", 40))), _text(REMINDER)]
    messages = [user("go"), *read("a", "a.py", code("alpha", 40)), *turn("b", "Read", {"file_path": "a.py"}, content)]
    sent = _result(send(engine(), messages), "b")
    assert sent[1:] == content[1:]
    assert len(sent[0]["text"]) < 200


def test_rows_that_age_leave_the_listing_and_the_way_back_is_said_there() -> None:
    content = [_text(listing(code("alpha", 400))), _text(REMINDER)]
    messages = [user("go"), *turn("a", "Read", {"file_path": "a.py"}, content), *long_session(80)[1:]]
    sent = _result(_replay(engine(), messages), "a")
    assert "laconic recall" in sent[0]["text"]
    assert len(sent[0]["text"]) < len(content[0]["text"]) / 3


@pytest.mark.parametrize("below", [0, 30])
def test_other_elements_stay_between_the_texts(below: int) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    content = [_text(listing(code("alpha", 40))), image, _text(REMINDER)]
    messages = [user("go"), *turn("a", "Read", {"file_path": "a.py"}, content), *long_session(below)[1:]]
    sent = _result(send(engine(), messages), "a")
    assert sent[1:] == content[1:]


def test_names_of_tools_that_a_search_found_are_never_left_out() -> None:
    found = [{"type": "tool_reference", "tool_name": f"mcp__server__tool_{number}"} for number in range(400)]
    messages = [user("go"), *turn("a", "ToolSearch", {"query": "select:x"}, found), *long_session(60)[1:]]
    sent = _replay(engine(EngineOptions(economic=False, standard=6_000)), messages)
    assert _result(sent, "a") == found


def test_names_of_tools_beside_a_text_are_never_left_out() -> None:
    found = [{"type": "tool_reference", "tool_name": f"mcp__server__tool_{number}"} for number in range(40)]
    content = [_text(listing(code("alpha", 400))), *found]
    messages = [user("go"), *turn("a", "ToolSearch", {"query": "x"}, content), *long_session(60)[1:]]
    sent = _replay(engine(EngineOptions(economic=False, standard=6_000)), messages)
    assert _result(sent, "a")[1:] == found
