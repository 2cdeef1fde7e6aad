"""A cache mark where a rewrite begins."""

from __future__ import annotations

import json
from typing import Any

from tests.conversation.sessions import FORMAT, engine, long_session, send

from laconic.wire.cache_marks import mark_block
from laconic.wire.parsed_request import parse

Json = dict[str, Any]
_MARK = {"cache_control": {"type": "ephemeral"}}


def _request(marked: tuple[int, ...], system: int = 0) -> bytes:
    messages = []
    for number in range(6):
        role = "assistant" if number % 2 else "user"
        more = _MARK if number in marked else {}
        messages.append({"role": role, "content": [{"type": "text", "text": f"words {number}", **more}]})
    texts = [{"type": "text", "text": "s", **_MARK}] * system
    return json.dumps({"model": "m", "system": texts, "messages": messages}).encode()


def _marked(body: bytes) -> list[int]:
    return [at for at, one in enumerate(json.loads(body)["messages"]) if "cache_control" in one["content"][-1]]


def _mark(body: bytes, turn: int) -> bytes:
    request = parse(FORMAT, body)
    return mark_block(request, request.turns[turn].blocks[0])


def test_a_block_is_marked_as_the_client_marks_its_newest() -> None:
    assert _marked(_mark(_request((5,)), 2)) == [2, 5]
    assert json.loads(_mark(_request((5,)), 2))["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}


def test_a_request_without_marks_on_its_messages_stays_as_it_is() -> None:
    body = _request((), system=1)
    assert _mark(body, 2) == body


def test_no_more_marks_are_set_than_the_provider_takes() -> None:
    assert _marked(_mark(_request((3, 5), system=2), 1)) == [1, 5]
    full = _request((5,), system=3)
    assert _mark(full, 1) == full


def test_a_request_that_rewrites_is_marked_before_its_first_change() -> None:
    """And the next one carries the client's marks alone."""
    one = engine()
    messages: list[Json] = json.loads(json.dumps(long_session(60)))
    length, sent = 1, send(one, messages[:1])
    while not sent.mode:
        length += 2
        request = json.loads(json.dumps(messages[:length]))
        request[-1]["content"][-1] |= _MARK
        before, sent = sent, send(one, request)
    marked = _marked(sent.body)
    assert len(marked) == 2 and marked[-1] == len(json.loads(sent.body)["messages"]) - 1
    assert json.loads(sent.body)["messages"][: marked[0]] == json.loads(before.body)["messages"][: marked[0]]
    assert send(one, request).body == sent.body
    request = json.loads(json.dumps(messages[: length + 2]))
    request[-1]["content"][-1] |= _MARK
    assert len(_marked(send(one, request).body)) == 1
