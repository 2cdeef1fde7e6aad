"""Recorded reads made anew by `read`: the same lines, from files as they were between changes."""

from __future__ import annotations

from pathlib import Path

from laconic.config import Settings
from laconic.conversation.replay import Json
from laconic.sessions.transcripts import Transcript
from laconic.tokens.count import counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools
from laconic_benchmarks.joined.measuring import ReadFigures, measure
from laconic_benchmarks.joined.recorded_files import find_reads
from laconic_benchmarks.joined.translation import translate

_LINES = [f"    total_of_rows += price_of_item({number}, 'a longer text')" for number in range(1, 31)]


def _turn(id: str, name: str, given: Json, result: str) -> list[Json]:
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": given}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]},
    ]


def _read(id: str, first: int, last: int, lines: list[str]) -> list[Json]:
    rows = [f"{number:>6}→{lines[number - 1]}" for number in range(first, last + 1)]
    return _turn(id, "Read", {"file_path": "/home/me/work/app.py"}, "\n".join(rows))


def _context(number: int, *turns: list[Json]) -> Transcript:
    messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": f"Context {number}."}]}]
    for turn in turns:
        messages += turn
    return Transcript(f"session-{number}", messages)


def _changed() -> list[str]:
    return ["# new", *_LINES]


def _session() -> tuple[Transcript, ...]:
    edit = _turn("e", "Edit", {"file_path": "/home/me/work/app.py", "old_string": "", "new_string": "# new"}, "done")
    said: list[Json] = [{"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]
    first = _context(
        0, _read("a", 1, 20, _LINES), _read("b", 11, 30, _LINES), edit, _read("c", 1, 20, _changed()), said
    )
    second = _context(1, _read("d", 5, 20, _changed()), said)
    return first, second


def test_a_change_makes_another_version_and_more_lines_do_not() -> None:
    messages: list[Json] = []
    for context in _session():
        messages += context.messages
    reads = find_reads(messages)
    assert reads["a"].version is reads["b"].version
    assert reads["b"].version.text() == "\n".join(_LINES) + "\n"
    assert reads["c"].version is reads["d"].version
    assert reads["c"].version.lines[1] == "# new"


def test_joined_nothing_is_pointed_to_that_a_compaction_took_away(tmp_path: Path, settings: Settings) -> None:
    figures = {}
    for remembers in (True, False):
        runtime = ToolRuntime(tmp_path, settings, tools())
        session = translate(_session(), runtime, Session(remembers=remembers))
        runtime.close()
        figures[remembers] = ReadFigures()
        measure(session, counter("o200k_base"), figures[remembers], gateway=True)
    apart, joined = figures[True], figures[False]
    assert (apart.reads, joined.reads) == (4, 4)
    assert (apart.wrong, joined.wrong) == (1, 0)
    assert joined.held_sent < joined.held / 2
