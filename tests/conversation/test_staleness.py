"""What is left out at a cold moment, and what stays: lists of files, imports, and what may be edited."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from tests.conversation.sessions import Clock, code, engine, listing, read, run, send, turn, user

from laconic.conversation.cache_economics import BlockSaving, CacheWeights, best_start
from laconic.models.model import Price

Json = dict[str, Any]
_PRICE = Price(0.1, 1.25, 300, 1024)


def _after(first: list[Json], turns: int) -> str:
    """All texts that are sent when the cache is cold, so many turns after these messages."""
    clock = Clock()
    one = engine(clock=clock)
    messages = [user("go"), *first]
    for number in range(turns):
        messages += run(f"later{number}", f"./step{number}", f"done {number}")
    send(one, messages)
    clock.now += 10_000
    return json.dumps(json.loads(send(one, [*messages, user("on")]).body)["messages"], ensure_ascii=False)


def test_names_of_files_that_a_search_found_stay_long_after_its_other_results() -> None:
    paths = "\n".join(f"src/module_{number}/handler_{number}.py" for number in range(20))
    hits = "\n".join(f"src/a_{number}.py:{number}: value_{number} = find_handler({number})" for number in range(20))
    first = [*turn("g", "Glob", {"pattern": "**/*.py"}, paths), *turn("h", "Grep", {"pattern": "find"}, hits)]
    sent = _after(first, 40)
    assert "src/module_7/handler_7.py" in sent
    assert "value_7 = find_handler(7)" not in sent


def test_a_list_of_files_is_not_shortened_as_it_comes() -> None:
    paths = "\n".join(f"./src/module_{number}/handler_{number}.py" for number in range(80))
    sent = send(engine(), [user("go"), *run("f", "find . -name '*.py'", paths)])
    assert all(f"./src/module_{number}/handler_{number}.py" in sent.body.decode() for number in range(80))


@pytest.mark.parametrize(
    "line", ['import "net/http"', "from pathlib import Path", "package storage", "#include <map>"]
)
def test_the_imports_of_a_file_stay_when_the_rest_of_it_goes(line: str) -> None:
    sent = _after(read("a", "src/alpha.py", f"{line}\n{code('alpha', 100)}"), 60)
    assert json.dumps(line)[1:-1] in sent
    assert "alpha_value_50" not in sent


def test_the_output_of_a_command_does_not_stay_because_its_files_are_named_again() -> None:
    log = "\n".join(f"case {number} of the suite took {number * 37 % 101} ms" for number in range(60))
    messages = run("a", "python suite.py", log)
    for number in range(12):
        messages += turn(f"e{number}", "Edit", {"file_path": "suite.py", "old_string": "a", "new_string": "b"}, "ok")
    assert "case 41 of the suite" not in _after(messages, 10)


def test_an_edit_goes_by_the_same_age_whether_alone_or_with_its_whole_exchange() -> None:
    new = "\n".join(f"    total_{number} = compute_total({number})" for number in range(12))
    edit = {"file_path": "src/beta.py", "old_string": "x", "new_string": new}
    assert "compute_total(7)" in _after(turn("e", "Edit", edit, "The file was updated."), 30)
    assert "compute_total(7)" not in _after(turn("e", "Edit", edit, "The file was updated."), 90)


def test_a_rewrite_must_pay_for_itself_within_the_turns_given() -> None:
    """5,000 tokens that go save 500 a turn; 6,000 that are written anew cost 6,900."""
    found = [BlockSaving(tokens=5_000, behind=11_000, place=3)]
    for payback, start in ((13.0, None), (14.0, 3)):
        assert best_start(found, 80, _PRICE, CacheWeights(), warm=True, payback=payback) == start
    assert best_start(found, 80, _PRICE, CacheWeights(), warm=False, payback=0.0) == 3


def test_what_is_near_the_end_goes_before_what_has_much_behind_it() -> None:
    found = [BlockSaving(tokens=2_000, behind=60_000, place=1), BlockSaving(tokens=5_000, behind=7_000, place=9)]
    assert best_start(found, 80, _PRICE, CacheWeights(), warm=True, payback=8.0) == 9


def test_a_models_own_words_are_no_reason_to_rewrite_turn_after_turn() -> None:
    """Long answers cannot go: what little can is not worth what stands behind it."""
    one = engine()
    messages, events = [user("go")], []
    for number in range(60):
        said = " ".join(f"thought {number} {word * 7919 % 10007}" for word in range(300))
        messages += turn(
            f"c{number}", "Read", {"file_path": f"f{number}.py"}, listing(code(f"f{number}", 6)), text=said
        )
        if send(one, messages).mode:
            events.append(number)
    assert all(later - before > 1 for before, later in pairwise(events))
    assert len(events) <= 6


def test_what_our_own_read_can_show_again_goes_first_unless_its_file_changed() -> None:
    """The tag in its header says of which version it is; `read` gives it back."""
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(code("alpha").split("\n"), 1))
    ours = turn(
        "a", "mcp__laconic__read", {"targets": ["src/alpha.py:1-60"]}, f"[src/alpha.py#4f2a91 60 lines]\n{numbered}"
    )
    theirs = read("a", "src/alpha.py", code("alpha"))
    edit = turn("e", "Edit", {"file_path": "src/alpha.py", "old_string": "a", "new_string": "b"}, "ok")
    assert "alpha_value_50" not in _after(ours, 17)
    assert "alpha_value_50" in _after(ours, 10)
    assert "alpha_value_50" in _after(theirs, 17)
    assert "alpha_value_50" in _after([*ours, *edit], 17)


def test_hits_alone_go_before_a_search_that_was_asked_for_the_lines_around_them() -> None:
    found = "\n".join(f"value_{number} = find_handler({number})" for number in range(40))
    alone, around = "grep find_handler src/alpha.py", "grep -A 20 find_handler src/alpha.py"
    assert "find_handler(7)" not in _after(run("g", alone, found), 22)
    assert "find_handler(7)" in _after(run("g", around, found), 22)
    assert "find_handler(7)" not in _after(run("g", around, found), 60)


def test_an_import_that_only_an_output_shows_outlasts_it() -> None:
    """Agents that run scripts see their imports in tracebacks, and write them into the next script."""
    lines = [f'  File "/src/step_{number}.py", line {number}, in handle_{number}' for number in range(40)]
    output = "\n".join([*lines, "    import alpha_handlers", *lines])
    assert "import alpha_handlers" in _after(run("t", "python reproduce.py", output), 40)
    assert "in handle_7" not in _after(run("t", "python reproduce.py", output), 40)
    again = [*run("t", "python reproduce.py", output), *read("a", "src/a.py", f"import alpha_handlers\n{code('a')}")]
    assert _after(again, 60).count("import alpha_handlers") == 1


def test_a_line_for_exchanges_that_are_gone_carries_their_imports() -> None:
    failed = run("t", "python x.py", "    import alpha_handlers\nKeyError: 'x'")
    sent = _after([*run("a", "./first", "done"), *run("b", "./second", "done"), *failed], 40)
    assert "calls left out" in sent
    assert "KeyError" not in sent
    assert "import alpha_handlers" in sent
