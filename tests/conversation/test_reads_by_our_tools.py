"""Reads through the code plane, behind an engine: it points to lines that the conversation has, and to no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conversation.sessions import Json, body, code, engine, run, send, texts, turn, user

from laconic.config import Settings
from laconic.conversation.engine import ConversationEngine
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    root = tmp_path / "files"
    root.mkdir()
    (root / "app.py").write_text(code("app", 60) + "\n", "utf-8")
    opened = ToolRuntime(root, settings, tools())
    yield opened
    opened.close()


def _read(runtime: ToolRuntime, id: str, lines: str) -> list[Json]:
    given = {"targets": [f"app.py:{lines}"], "budget": "full"}
    reply = runtime.call("read", given, Session(remembers=False))
    return turn(id, "mcp__laconic__read", given, reply.text)


def _grow(one: ConversationEngine, messages: list[Json], more: list[Json]) -> str:
    """The newest result as it is sent."""
    messages += more
    return texts(send(one, messages))[-1]


def test_lines_that_the_conversation_has_are_pointed_to(runtime: ToolRuntime) -> None:
    one, messages = engine(), [user("Look at it.")]
    whole = _grow(one, messages, _read(runtime, "a", "1-40"))
    assert "app_value_20" in whole
    again = _grow(one, messages, _read(runtime, "b", "10-40"))
    assert "[10-40: as above at 10]" in again
    assert "app_value_20" not in again
    more = _grow(one, messages, _read(runtime, "c", "30-50"))
    assert "[30-40: as above at 30]" in more
    assert "41\t    app_value_40" in more


def test_a_longer_copy_without_numbers_does_not_hide_one_with_numbers(runtime: ToolRuntime) -> None:
    one, messages = engine(), [user("Look at it.")]
    _grow(one, messages, _read(runtime, "a", "10-40"))
    _grow(one, messages, turn("w", "Write", {"file_path": "copy.py", "content": code("app", 60)}, "done"))
    again = _grow(one, messages, _read(runtime, "b", "5-40"))
    assert "5\t    app_value_4" in again
    assert "[10-40: as above at 10]" in again


def test_of_a_changed_file_the_changed_lines_are_sent(runtime: ToolRuntime) -> None:
    one, messages = engine(), [user("Look at it.")]
    _grow(one, messages, _read(runtime, "a", "1-40"))
    file = runtime.root / "app.py"
    file.write_text("# new\n" + file.read_text("utf-8").replace("app_value_20 =", "app_amount_20 ="), "utf-8")
    again = _grow(one, messages, _read(runtime, "b", "2-41"))
    assert "[2-21: as above at 1]" in again
    assert "22\t    app_amount_20 =" in again
    assert "[23-41: as above at 22]" in again
    assert again.count("app_value") == 0


def test_what_the_agent_wrote_into_a_file_is_pointed_to_with_a_number_every_ten_lines(runtime: ToolRuntime) -> None:
    """Edits name lines by their numbers, and an argument shows none: nobody has to count far."""
    one, messages = engine(), [user("Write it.")]
    _grow(one, messages, turn("w", "Write", {"file_path": "/x/files/app.py", "content": code("app", 60)}, "done"))
    shown = _grow(one, messages, _read(runtime, "a", "1-40")).split("\n")
    assert "[1-9: as written above]" in shown
    assert "[11-19: as written above]" in shown
    assert "10\t    app_value_9" in "\n".join(shown)
    for row in shown:
        ends = row.strip("[").split(":")[0].split("-")
        if row.endswith("as written above]"):
            assert int(ends[-1]) - int(ends[0]) < 9


def test_what_was_written_into_another_file_is_not_pointed_to(runtime: ToolRuntime) -> None:
    one, messages = engine(), [user("Write it.")]
    _grow(one, messages, turn("w", "Write", {"file_path": "/x/files/copy.py", "content": code("app", 60)}, "done"))
    assert "as written above" not in _grow(one, messages, _read(runtime, "a", "1-40"))


def test_lines_that_were_left_out_are_sent_again(runtime: ToolRuntime) -> None:
    one, messages = engine(), [user("Look at it.")]
    first = _grow(one, messages, _read(runtime, "a", "1-40"))
    for number in range(60):
        messages += run(f"c{number}", f"make step{number}", f"step {number} is done and prints words " * 40)
        send(one, messages)
    before = texts(send(one, messages))[0]
    assert "laconic recall" in before
    assert "app_value_20" not in before
    assert _grow(one, messages, _read(runtime, "b", "1-40")) == first


def test_a_helper_is_never_pointed_to_what_another_conversation_has(runtime: ToolRuntime) -> None:
    """Also after the client's own compaction, which begins another history."""
    one, messages = engine(), [user("Look at it.")]
    whole = _grow(one, messages, _read(runtime, "a", "1-40"))
    for opening in ("You are a helper: look at it.", "This session is continued; app.py was read."):
        helper = [user(opening), *_read(runtime, "h", "1-40")]
        for session in ("session", "other"):
            sent = one.prepare(session, parse(format_named("anthropic"), body(helper)))
            assert texts(sent) == [whole]
