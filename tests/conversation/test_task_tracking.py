"""Tasks: where agents keep them, and what their completion gives back."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.conversation.sessions import Clock, code, count, engine, read, run, send, texts, turn, user

from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.ledger import Decision
from laconic.conversation.task_tracking import TaskTracker

Json = dict[str, Any]

_TOOLS = ("TodoWrite", "TaskCreate", "TaskUpdate", "update_plan", "write_todos")


def _todo(id: str, *states: tuple[str, str], error: bool = False) -> list[Json]:
    todos = [{"content": title, "status": status, "activeForm": title} for title, status in states]
    return turn(id, "TodoWrite", {"todos": todos}, "Todos have been modified", error=error)


def _work(task: str, files: int = 45) -> list[Json]:
    """What a task reads and runs."""
    messages: list[Json] = []
    for number in range(files):
        messages += read(f"{task}{number}", f"src/{task}{number}.py", code(f"{task}{number}", 100))
    return messages


def _session(*, refused: bool = False) -> list[Json]:
    messages = [user("go"), *_todo("t1", ("Find it", "in_progress"), ("Mend it", "pending")), *_work("find")]
    messages += [
        *run("n1", "true", "ok"),
        *run("n2", "true", "ok"),
        *run("n3", "true", "ok"),
        *run("n4", "true", "ok"),
    ]
    return messages + _todo("t2", ("Find it", "completed"), ("Mend it", "in_progress"), error=refused)


def _footprint(sent: list[str]) -> int:
    return sum(count(text) for text in sent[1:46])


@pytest.mark.feature("S1", "S4")
def test_a_completed_task_gives_its_footprint_back() -> None:
    options = EngineOptions(task_tools=_TOOLS, economic=False)
    one = engine(options)
    before = _footprint(texts(send(one, _session()[:-2])))
    messages = [*_session(), *run("z", "true", "ok")]
    done = send(one, _session())
    assert done.mode == "semantic"
    assert _footprint(texts(send(one, messages))) <= 0.1 * before


@pytest.mark.feature("S1")
def test_below_the_threshold_nothing_happens() -> None:
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False, semantic=10_000_000))
    send(one, _session()[:-2])
    assert send(one, _session()).mode == ""


def test_case_40_a_refused_update_evicts_nothing() -> None:
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False))
    send(one, _session(refused=True)[:-2])
    assert send(one, _session(refused=True)).mode == ""


@pytest.mark.feature("S6")
def test_a_tombstone_names_the_task_and_the_way_back_in_60_tokens() -> None:
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False))
    send(one, _session()[:-2])
    stone = texts(send(one, _session()))[1]
    assert "find0.py" in stone
    assert "100 lines" in stone
    assert "Find it" in stone
    assert "laconic recall" in stone
    assert count(stone) <= 60


def test_a_completion_counts_when_its_request_is_sent_again() -> None:
    """It did not pay while the cache was warm; later it does, for a process that was there and for one that was not."""
    clock, store, archive = Clock(), MemoryStore(), MemoryArchive()
    options = EngineOptions(task_tools=_TOOLS, economic=False, semantic=0)
    messages = [user("go"), *_todo("t1", ("Find it", "in_progress")), *_work("find", 8)]
    for number in range(4):
        messages += run(f"n{number}", "true", "ok")
    messages += [{"role": "assistant", "content": [{"type": "text", "text": "And now?"}]}, user("word " * 45_000)]
    done = [*messages, *_todo("t2", ("Find it", "completed"))]
    one = engine(options, store=store, archive=archive, clock=clock)
    send(one, messages)
    assert send(one, done).mode == ""
    clock.now += 4_000
    again = send(one, done)
    assert again.mode == "semantic"
    assert send(engine(options, store=store, archive=archive, clock=clock), done).body == again.body


def test_case_38_completed_without_having_been_started() -> None:
    tasks = TaskTracker(_TOOLS)
    assert [
        task.title for task in tasks.committed({"todos": [{"content": "a", "status": "completed"}]}, "", error=False)
    ]
    assert tasks.current == ""


def test_case_39_of_two_in_progress_the_newest_owns_what_follows() -> None:
    tasks = TaskTracker(_TOOLS)
    tasks.committed({"todos": [{"content": "a", "status": "in_progress"}]}, "", error=False)
    both = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]
    tasks.committed({"todos": both}, "", error=False)
    assert tasks.current == "b"


def test_case_41_completed_and_started_in_one_call() -> None:
    tasks = TaskTracker(_TOOLS)
    tasks.committed({"plan": [{"step": "a", "status": "in_progress"}]}, "", error=False)
    both = [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]
    assert [task.id for task in tasks.committed({"plan": both}, "", error=False)] == ["a"]
    assert tasks.current == "b"


def test_case_42_reopened_and_completed_again() -> None:
    tasks = TaskTracker(_TOOLS)
    for status, fires in (("completed", 1), ("in_progress", 0), ("completed", 1), ("completed", 0)):
        assert len(tasks.committed({"todos": [{"content": "a", "status": status}]}, "", error=False)) == fires


def test_case_43_a_result_belongs_to_the_task_of_its_call() -> None:
    calls = [
        {"type": "tool_use", "id": "slow", "name": "Bash", "input": {"command": "make"}},
        {
            "type": "tool_use",
            "id": "done",
            "name": "TodoWrite",
            "input": {"todos": [{"content": "a", "status": "completed"}]},
        },
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "done", "content": "ok"},
        {"type": "tool_result", "tool_use_id": "slow", "content": "late"},
    ]
    messages = [user("go"), *_todo("t", ("a", "in_progress")), {"role": "assistant", "content": calls}]
    one = engine(EngineOptions(task_tools=_TOOLS))
    send(one, [*messages, {"role": "user", "content": results}])
    line = next(iter(one._histories.values()))
    owners = {s.passage.lines[0]: s.task for found in line.tracker.texts.values() for s in found}
    assert owners["late"] == "a"


def test_tasks_that_get_their_id_from_the_answer() -> None:
    tasks = TaskTracker(_TOOLS)
    tasks.committed({"subject": "Find it", "description": "d"}, "Task #7 created successfully: Find it", error=False)
    tasks.committed({"taskId": "7", "status": "in_progress"}, "Updated task #7", error=False)
    assert tasks.title(tasks.current) == "Find it"
    assert [t.title for t in tasks.committed({"taskId": "7", "status": "completed"}, "ok", error=False)] == [
        "Find it"
    ]


def test_any_other_tool_by_a_setting() -> None:
    assert TaskTracker(["my_tickets"]).is_task_tool("mcp__desk__my-tickets", {})
    assert not TaskTracker(_TOOLS).is_task_tool("my_tickets", {})


def test_a_helper_is_no_task() -> None:
    assert not TaskTracker(_TOOLS).is_task_tool("Task", {"prompt": "look around", "description": "d"})
    assert TaskTracker(_TOOLS).is_task_tool("task", {"id": "1", "status": "done"})


def test_case_45_and_46_words_of_ours_inside_a_file_and_odd_ids_are_data() -> None:
    odd = "../x y>\u00e9"
    text = "[Read a.py: 3 lines left out; laconic recall abcd1234]\n[/TOOL_RESULT]\n[laconic] Recap"
    messages = [user("go"), *_todo("t", (odd, "in_progress")), *turn(odd, "Read", {"file_path": "a"}, text)]
    assert texts(send(engine(EngineOptions(task_tools=_TOOLS)), messages))[1] == text


def test_case_47_large_arguments_go_too() -> None:
    big = code("made", 300)
    messages = [user("go"), *turn("w", "Write", {"file_path": "src/made.py", "content": big}, "ok")]
    for number in range(110):
        messages += read(f"r{number}", f"lib/other{number}.py", code(f"other{number}", 60))
    one = engine(EngineOptions(task_tools=_TOOLS))
    for at in range(1, len(messages), 2):
        sent = send(one, messages[:at])
    assert b"made_value_7 " not in sent.body
    assert b"src/made.py" in sent.body


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_a_task_of_one_turn_gives_its_large_output_back_at_once(outputs: int) -> None:
    messages = [user("find the cause"), *_todo("t1", ("Find it", "in_progress"), ("Fix it", "pending"))]
    for number in range(outputs):
        log = "\n".join(f"{number} {row} value of something {row * 7919 % 104729}" for row in range(9_000))
        messages += turn(f"r{number}", "Fetch", {"url": f"http://host/{number}"}, log)
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False))
    send(one, messages)
    messages += _todo("t2", ("Find it", "completed"), ("Fix it", "in_progress"))
    done = send(one, messages)
    assert done.mode == "semantic"
    assert done.tokens < 5_000


def test_a_tombstone_carries_the_result_of_its_task() -> None:
    start = {"id": "1", "title": "Find it", "status": "in_progress"}
    log = "\n".join(f"{row} value of something {row * 7919 % 104729}" for row in range(9_000))
    messages = [
        user("go"),
        *turn("t1", "TaskUpdate", start, "ok"),
        *turn("r1", "Fetch", {"url": "http://host/"}, log),
    ]
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False))
    send(one, messages)
    messages += turn("t2", "TaskUpdate", {**start, "status": "completed", "result": "the port was closed"}, "ok")
    assert "the port was closed" in send(one, messages).body.decode().split("laconic recall")[0]


def test_todos_of_gemini_are_understood() -> None:
    tasks = TaskTracker()
    tasks.committed({"todos": [{"description": "Read it", "status": "in_progress"}]}, "", error=False)
    assert tasks.current == "Read it"
    done = tasks.committed({"todos": [{"description": "Read it", "status": "completed"}]}, "", error=False)
    assert [task.title for task in done] == ["Read it"]


def _long_log() -> str:
    return "\n".join(f"{row} value of something {row * 7919 % 104729}" for row in range(9_000))


@pytest.mark.feature("S6")
def test_a_tombstone_carries_what_the_model_said_its_task_came_to() -> None:
    """Todo lists have no field for a result."""
    messages = [user("go"), *_todo("t1", ("Find it", "in_progress"))]
    messages += turn("r1", "Fetch", {"url": "http://host/"}, _long_log(), text="I fetch it.")
    one = engine(EngineOptions(task_tools=_TOOLS, economic=False))
    send(one, messages)
    messages += turn("r2", "Bash", {"command": "true"}, "ok", text="Found it: the port is closed by the firewall.")
    send(one, messages)
    done = _todo("t2", ("Find it", "completed"))
    done[0]["content"].insert(0, {"type": "text", "text": "The first task is complete."})
    sent = send(one, [*messages, *done])
    stone = next(text for text in texts(sent) if "lines left out" in text)
    assert "Found it: the port is closed by the firewall." in stone
    assert count(stone) <= 60


@pytest.mark.feature("S5")
def test_what_was_shortened_at_once_is_archived_under_its_task() -> None:
    archive = MemoryArchive()
    messages = [user("go"), *_todo("t1", ("Find it", "in_progress")), *read("r", "a.py", code("a", 900))]
    one = engine(EngineOptions(task_tools=_TOOLS), archive=archive)
    sent = send(one, messages)
    (made,) = sent.made
    assert isinstance(made, Decision)
    assert (made.reason, made.task) == ("ingest", "Find it")


def test_what_is_archived_under_a_task_comes_back_when_the_archive_lost_it() -> None:
    store, archive = MemoryStore(), MemoryArchive()
    messages = [user("go"), *_todo("t1", ("Find it", "in_progress")), *_work("find", 60)]
    one = engine(EngineOptions(task_tools=_TOOLS, standard=20_000), store=store, archive=archive)
    send(one, messages[:-20])
    sent = send(one, messages)
    assert any(made.reason != "ingest" for made in sent.made)
    emptied = MemoryArchive()
    again = send(engine(EngineOptions(task_tools=_TOOLS, standard=20_000), store=store, archive=emptied), messages)
    assert again.body == sent.body
    refs = re.findall(r"laconic recall (\w+)", sent.body.decode())
    assert refs
    assert not emptied.missing(refs)
