"""The comparison of walks: everybody pays until it has seen the answer, or for all that it did in vain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laconic.render.table import Cell
from laconic_benchmarks.turns.habits import turns_before_a_change
from laconic_benchmarks.turns.tables import report
from laconic_benchmarks.turns.walk import CAREFUL, STEPS, Rule, Step, Target, Walk


def _walk(task: str, policy: str, *functions: float, size: int = 1000) -> Walk:
    """One call a turn, each of which adds so many tokens; after each, the share of the answer that was seen."""
    steps = tuple(
        Step(1, 100 + at * size, size, size, share, share, seen=10 * (at + 1), read=at + 1)
        for at, share in enumerate(functions)
    )
    return Walk(task, ("python",), False, policy, 50, steps)


def _rows(walks: list[Walk], tasks: str) -> dict[str, dict[str, Cell]]:
    return {str(row["policy"]): row for row in report(walks, "words", 1).rows if row["tasks"] == tasks}


LUCKY = [_walk("lucky", CAREFUL, 1.0, 1.0, 1.0), _walk("lucky", STEPS, 1.0, 1.0, size=3000)]
HARD = [_walk("hard", CAREFUL, 0.0, 0.5, 0.5), _walk("hard", STEPS, 1.0, 1.0, size=3000)]


def test_a_walk_ends_with_the_turn_that_shows_the_last_function() -> None:
    walk = _walk("a", CAREFUL, 0.0, 0.5, 1.0, 1.0)
    assert len(walk.until(Target(functions=1.0)).steps) == 3
    assert len(walk.until(Target(functions=0.5)).steps) == 2
    assert len(walk.until(Target(functions=1.0), 2).steps) == 2
    assert len(walk.until(Rule(seen=20)).steps) == 2


def test_what_was_spent_in_vain_counts() -> None:
    rows = _rows(LUCKY + HARD, "all")
    assert rows[CAREFUL]["turns"] == (2 + 4) / 2
    assert rows[CAREFUL]["sum of prompts"] == ((100 + 1100) + (100 + 1100 + 2100 + 3100)) / 2
    assert rows[STEPS]["sum of prompts"] == 100 + 3100
    assert rows[STEPS]["of careful"] == pytest.approx(3200 / 3800)


def test_what_was_sent_before_costs_a_tenth_with_a_cache() -> None:
    walk = _walk("a", CAREFUL, 0.0, 1.0)
    assert walk.prompts == 100 + 1100 + 2100
    assert walk.with_cache == pytest.approx(2100 + 0.1 * (100 + 1100))


def test_tasks_are_told_apart_by_who_succeeds() -> None:
    walks = LUCKY + HARD
    assert _rows(walks, "found by both")[STEPS]["n"] == 1
    assert _rows(walks, "found by the code plane only")[CAREFUL]["functions"] == 0.5
    assert _rows(walks, "found by careful native only") == {}


def test_the_view_that_favours_the_shell_stops_both_at_its_share_and_leaves_out_what_it_never_finds() -> None:
    lost = [_walk("lost", CAREFUL, 0.0, 0.0), _walk("lost", STEPS, 1.0)]
    rows = _rows(LUCKY + HARD + lost, "until all that careful native finds")
    assert rows[CAREFUL]["n"] == rows[STEPS]["n"] == 2
    assert rows[CAREFUL]["turns"] == (2 + 3) / 2


def test_the_report_says_where_the_shell_is_cheaper() -> None:
    notes = report(LUCKY + HARD, "words", 1).notes
    assert "careful native takes fewer prompt tokens than the code plane in steps in 1 of 2 tasks" in notes
    assert any("found by both" in note and "blind: stop at 10 seen" in note for note in notes)


def test_the_limit_of_turns_is_told_beside_what_recorded_agents_did(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "rg total"}'}}
    change = {
        "id": "d",
        "type": "function",
        "function": {"name": "bash", "arguments": '{"command": "sed -i s/a/b/ x.py"}'},
    }
    messages: list[dict[str, object]] = [{"role": "user", "content": "mend it"}]
    for each in (call, call, change):
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [each]},
            {"role": "tool", "tool_call_id": each["id"], "content": "done"},
        ]
    (tmp_path / "one.json").write_text(json.dumps({"messages": messages}))
    looked = turns_before_a_change(tmp_path)
    assert looked == [2]
    assert "recordings: 2" in report(LUCKY, "words", 1, looked).notes[-1]
    assert turns_before_a_change(tmp_path / "nowhere") == []
