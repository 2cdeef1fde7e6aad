"""A conversation that the model's own words fill: it keeps fitting, and its prefix is not rewritten turn after turn."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from tests.conversation.sessions import code, engine, opened, read, send, user

from laconic.conversation.engine_options import RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.wire.usage import Usage

Json = dict[str, Any]
_WINDOW = 16_000


def _said(number: int) -> str:
    return f"Thought {number}: " + " ".join(f"word{number}x{n * 7919 % 1009}" for n in range(250))


def _talk(turns: int) -> list[Json]:
    """Mostly thoughts and short questions, now and then a file."""
    messages = [user("Explain the design.")]
    for number in range(turns):
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": _said(number)}]},
            user(f"go on {number}"),
        ]
        if number % 3 == 0:
            messages += read(f"r{number}", f"src/part{number}.py", code(f"part{number}", 12))
    return messages


def _requests(messages: list[Json]) -> list[list[Json]]:
    return [messages[: at + 1] for at, message in enumerate(messages) if message["role"] == "user"]


@pytest.mark.feature("P1")
def test_own_words_make_room_long_before_every_turn_has_to() -> None:
    one = engine()
    before, rewritten = b"", []
    for number, request in enumerate(_requests(_talk(60))):
        sent = send(one, request, RequestLimits(window=_WINDOW))
        assert sent.sent < _WINDOW
        assert opened(sent).faults() == []
        if not sent.body.startswith(before):
            rewritten.append(number)
        before = sent.body[:-2]
    assert rewritten
    assert min(later - earlier for earlier, later in pairwise(rewritten)) >= 3


@pytest.mark.feature("P1")
def test_the_window_holds_also_while_a_low_quota_finds_nothing_to_leave_out() -> None:
    one = engine()
    one.quota("acc", 2_000)
    one.observe("acc", Usage(input=1_900), None)
    messages = [user("Explain the design.")]
    for number in range(40):
        words = [{"type": "text", "text": _said(number)}]
        messages += [{"role": "assistant", "content": words}, user(f"go on {number}")]
    sent = send(one, messages, RequestLimits(window=_WINDOW, account="acc"))
    assert sent.sent < _WINDOW
    assert opened(sent).faults() == []


@pytest.mark.feature("P1")
def test_what_the_model_said_begins_as_it_did_and_can_be_recalled_exactly() -> None:
    store, archive = MemoryStore(), MemoryArchive()
    one = engine(store=store, archive=archive)
    messages = _talk(40)
    for request in _requests(messages):
        sent = send(one, request, RequestLimits(window=_WINDOW))
    (ref,) = re.findall(
        r"Thought 0: word0x0 [^\[]*\[… \d+ characters left out; laconic recall (\w+)\]", sent.body.decode()
    )
    assert archive.kept[ref].decode() == _said(0)
    assert _said(39) in sent.body.decode()
    for number in range(40):
        assert f'"go on {number}"' in sent.body.decode()
    again = send(engine(store=store, archive=archive), messages, RequestLimits(window=_WINDOW))
    assert again.body == sent.body
