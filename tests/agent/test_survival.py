"""The agent survives models that talk nonsense, commands that hang, small windows, and its own death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.agent.provider import Provider, following
from tests.agent.stage import agent_for, repair, scripted, settings_in

from laconic.agent.agent_from_settings import AgentOptions
from laconic.agent.loop import Agent
from laconic.agent.permission import everything
from laconic.agent.run_limits import RunLimits
from laconic.agent.scripted_model import ModelScript
from laconic.errors import LimitReached, ModelError, UsageError
from laconic.sessions.spending import Spending
from laconic.sessions.trajectories import resume
from laconic.sessions.turn_tables import FILE
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.messages import AssistantMessage, ToolResults, UserMessage
from laconic.wire.parsed_request import parse

EDIT = {"name": "edit", "arguments": {"edits": [{"path": "new.py", "create": True, "text": "x = 1\n"}]}}
READ = {"name": "read", "arguments": {"targets": ["a.py"]}}


def _script(path: Path, *rules: dict[str, Any], **more: Any) -> Path:
    """A script as a file: TOML takes JSON's strings, lists and tables of one line."""
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items()), "utf-8")
    with path.open("a", encoding="utf-8") as out:
        for rule in rules:
            out.write("[[rule]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in rule.items()))
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _agent(tmp_path: Path, *rules: dict[str, Any], **more: Any) -> Agent:
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text("a = 1\n", "utf-8")
    path = _script(tmp_path / "model.toml", *rules)
    return agent_for(scripted(root, path, **more), settings_in(tmp_path), "x")


def _results(agent: Agent) -> list[str]:
    found = [message for message in agent.record.messages if isinstance(message, ToolResults)]
    return [one.text for message in found for one in message.outcomes]


# nonsense


@pytest.mark.feature("P3")
@pytest.mark.parametrize("protocol", ["native", "prompted"])
@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"say": ""}, ""),
        ({"say": '```tool\n{"name": "edit", "arguments": {"edits": nope}}\n```'}, "not-json"),
        ({"say": "```tool\nrm -rf everything\n```"}, "not-json"),
        ({"calls": [{"name": "launch_rockets", "arguments": {"now": True}}]}, "unknown-tool"),
        ({"calls": [EDIT], "truncated": True}, "truncated"),
    ],
    ids=["silence", "broken JSON", "no call", "no such tool", "cut off"],
)
def test_a_model_that_makes_no_sense_is_given_up_after_three_answers(
    tmp_path: Path, protocol: str, rule: dict[str, Any], reason: str
) -> None:
    """It is told what was wrong each time; nothing is written, and calls are counted by reason."""
    agent = _agent(tmp_path, rule, protocol=protocol)
    if protocol == "native" and "```" in rule.get("say", ""):
        assert agent.work("x").startswith("```")  # only text: a native model has said its last word
    else:
        with pytest.raises(ModelError, match="3 unusable answers in a row"):
            agent.work("x")
        assert agent.malformed == ({reason: 3} if reason else {})
    agent.close()
    record = Spending(tmp_path / "cache" / FILE)
    counted = [(one.upstream, one.model, one.reason, one.count) for one in record.malformed()]
    record.close()
    assert counted == [("scripted", "model", found, count) for found, count in agent.malformed.items()]
    assert not (tmp_path / "project" / "new.py").exists()


@pytest.mark.feature("P3")
@pytest.mark.parametrize("protocol", ["native", "prompted"])
def test_in_a_message_that_was_cut_off_reading_is_done_and_writing_is_not(tmp_path: Path, protocol: str) -> None:
    agent = _agent(
        tmp_path,
        {"when": ["^x$"], "calls": [READ, EDIT], "truncated": True},
        {"when": ["a = 1"], "unless": r"new\.py#", "calls": [EDIT]},
        {"when": [r"new\.py#"], "say": "Written at the second try."},
        protocol=protocol,
    )
    assert agent.work("x") == "Written at the second try."
    assert agent.malformed == {"truncated": 1}
    assert any("a = 1" in text for text in _results(agent))
    agent.close()
    assert (tmp_path / "project" / "new.py").read_text("utf-8") == "x = 1\n"


@pytest.mark.feature("P3")
def test_beside_a_broken_call_nothing_is_written(tmp_path: Path) -> None:
    broken = '```tool\n{"name": "edit", "arguments": {"edits": nope}}\n```'
    agent = _agent(
        tmp_path,
        {"when": ["^x$"], "say": broken, "calls": [EDIT]},
        {"when": ["was not run"], "say": "I leave it."},
        protocol="prompted",
    )
    assert agent.work("x") == "I leave it."
    assert agent.malformed == {"batch": 1, "not-json": 1}
    agent.close()
    assert not (tmp_path / "project" / "new.py").exists()


def test_guessed_names_of_tools_and_arguments_are_understood(tmp_path: Path) -> None:
    """Also in calls as text, where nothing checks them before."""
    agent = _agent(
        tmp_path,
        {"when": ["^x$"], "calls": [{"name": "bash", "arguments": {"cmd": "cat a.py"}}]},
        {"when": ["a = 1"], "say": "Seen."},
        protocol="prompted",
    )
    assert agent.work("x") == "Seen."
    assert not agent.malformed
    agent.close()


# commands


def _running(word: str) -> list[str]:
    """Command lines that hold a word; commands may have numbers of their own for their processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return [line for line in found if word in line]


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """Also what put itself into a session of its own, and ignores requests to end."""
    word = f"60.{os.getpid()}1"
    command = f"setsid sh -c 'trap \"\" TERM; sleep {word}' & sleep {word}"
    rules = (
        {"when": ["^x$"], "calls": [{"name": "run", "arguments": {"command": command, "seconds": 2}}]},
        {"when": [r"\[exit code (?P<code>\d+); ended after 2 s"], "say": "It hung (<<code>>)."},
    )
    agent = _agent(tmp_path, *rules)
    assert agent.work("x") == "It hung (143)."
    agent.close()
    assert _running(word) == []


def test_what_a_command_leaves_in_the_background_is_ended(tmp_path: Path) -> None:
    word = f"60.{os.getpid()}2"
    command = f"sleep {word} & echo started"
    rules = (
        {"when": ["^x$"], "calls": [{"name": "run", "arguments": {"command": command}}]},
        {"when": ["started", "left running were ended"], "say": "Ended."},
    )
    agent = _agent(tmp_path, *rules)
    assert agent.work("x") == "Ended."
    agent.close()
    assert _running(word) == []


# small windows


def _large(root: Path, files: int) -> None:
    root.mkdir()
    for n in range(files):
        body = "".join(f"def step_{n}_{m}(value):\n    return value * {n} + {m * 31}\n\n\n" for m in range(60))
        (root / f"part_{n:02}.py").write_text(body, "utf-8")


def _chain(files: int) -> list[dict[str, Any]]:
    """Reads one file after the other: each rule reacts to the file that the newest message shows."""
    calls = [{"name": "read", "arguments": {"targets": [f"part_{n:02}.py"]}} for n in range(files)]
    rules: list[dict[str, Any]] = [{"when": ["^Read them all"], "calls": calls[:1]}]
    for n, call in enumerate(calls[1:]):
        rules.append({"when": [rf"\[part_{n:02}\.py#"], "calls": [call]})
    return [*rules, {"when": [rf"\[part_{files - 1:02}\.py#"], "say": "I have read them all."}]


@pytest.mark.feature("P1", "P4")
@pytest.mark.parametrize("format", ["chat", "anthropic", "gemini"])
@pytest.mark.parametrize("protocol", ["native", "prompted"])
def test_a_window_of_8k_is_enough_for_many_large_files(tmp_path: Path, format: str, protocol: str) -> None:
    """Every request fits, is valid, begins with system prompt and task, and tells how full it is, at its end only."""
    root = tmp_path / "project"
    _large(root, 12)
    rules = msgspec.convert({"rules": _chain(12)}, ModelScript)
    count = counter()
    with Provider(following(rules)) as provider:
        options = AgentOptions(root, "local/m", provider.url, format, protocol, 8_000, ask=everything)
        agent = agent_for(options, settings_in(tmp_path), "x")
        assert agent.work("Read them all, please.") == "I have read them all."
        agent.close()
        bodies = [asked.body for asked in provider.asked]
    assert len(bodies) == 13
    assert (
        sum(count(one.text) for m in agent.record.messages if isinstance(m, ToolResults) for one in m.outcomes)
        > 8_000
    )
    for body in bodies:
        assert count(body.decode()) <= 8_000 - 2_000  # the answer has its quarter
        talk = parse(format_named(format), body)
        assert talk.faults() == []
        texts = [block.text for turn in talk.turns if turn.role != "system" for block in turn.blocks]
        assert any(text.startswith("Read them all, please.") for text in texts)
        assert "[context " in texts[-1].split("\n")[-1]
        assert not any("[context " in text for text in texts[:-1])
        assert b"You are a careful software engineer" in body


@pytest.mark.feature("P1")
@pytest.mark.parametrize(
    ("model", "said", "window", "shown"),
    [
        ("gpt-4-0613", 0, 8_192, b"of 8k tokens"),
        ("gpt-4-0613", 6_000, 6_000, b"of 6k tokens"),
        ("m", 0, 0, b" tokens"),
    ],
)
def test_a_model_whose_window_its_name_tells_gets_what_fits(
    tmp_path: Path, model: str, said: int, window: int, shown: bytes
) -> None:
    """What the user says counts before the name; of an unknown model nothing is assumed."""
    root = tmp_path / "project"
    _large(root, 14)
    rules = msgspec.convert({"rules": _chain(14)}, ModelScript)
    with Provider(following(rules)) as provider:
        agent = agent_for(
            AgentOptions(root, f"local/{model}", provider.url, "chat", "native", said, ask=everything),
            settings_in(tmp_path),
            "x",
        )
        assert agent.work("Read them all, please.") == "I have read them all."
        agent.close()
        bodies = [asked.body for asked in provider.asked]
    sizes = [counter()(body.decode()) for body in bodies]
    assert all(shown in body for body in bodies)
    assert max(sizes) <= window if window else max(sizes) > 8_192


@pytest.mark.feature("P1")
@pytest.mark.parametrize(
    ("format", "protocol"), [("chat", "native"), ("anthropic", "prompted"), ("gemini", "native")]
)
def test_many_large_results_at_once_are_made_to_fit(tmp_path: Path, format: str, protocol: str) -> None:
    """More than the window in one turn: each keeps its head, none is parted from its call, and the work goes on."""
    root = tmp_path / "project"
    _large(root, 10)
    calls = [{"name": "read", "arguments": {"targets": [f"part_{n:02}.py"], "budget": "full"}} for n in range(10)]
    more = [{"name": "run", "arguments": {"command": "seq 5000 | sed s/^/x/"}}, {"name": "map", "arguments": {}}]
    rules = [{"when": ["^Read"], "calls": calls}, {"tool": "read", "calls": more}, {"tool": "map", "say": "Seen."}]
    with Provider(following(msgspec.convert({"rules": rules}, ModelScript))) as provider:
        options = AgentOptions(root, "local/m", provider.url, format, protocol, 8_000, ask=everything)
        agent = agent_for(options, settings_in(tmp_path), "x")
        assert agent.work("Read them all.") == "Seen."
        agent.close()
        bodies = [asked.body for asked in provider.asked]
    assert len(bodies) == 3
    assert all(counter()(body.decode()) <= 8_000 - 2_000 for body in bodies)
    assert all(f"[part_{n:02}.py#".encode() in bodies[1] for n in range(10))


@pytest.mark.feature("P4")
def test_what_was_sent_before_is_sent_again_byte_for_byte(tmp_path: Path) -> None:
    """Only the line at the end differs, so the provider's cache holds."""
    case = repair("first_price")
    (tmp_path / "project").mkdir()
    root = case.set_up(tmp_path / "project")
    answer = following(msgspec.convert({"rules": _chain(2)}, ModelScript))
    _large(tmp_path / "large", 2)
    with Provider(answer) as provider:
        options = AgentOptions(tmp_path / "large", "local/m", provider.url, "chat", "native", ask=everything)
        agent = agent_for(options, settings_in(tmp_path), "x")
        agent.work("Read them all, please.")
        agent.close()
        first, second, third = (json.loads(asked.body)["messages"] for asked in provider.asked)
    assert root.is_dir()
    for before, after in ((first, second), (second, third)):
        assert before[:-1] == after[: len(before) - 1]
        assert before[-1]["content"].startswith(after[len(before) - 1]["content"])


# tasks


def _with_tasks(files: int) -> list[dict[str, Any]]:
    rules = _chain(files)
    rules[0]["calls"].insert(0, {"name": "task", "arguments": {"title": "Read", "status": "in_progress"}})
    done = {"name": "task", "arguments": {"id": "1", "status": "completed", "result": "all is arithmetic"}}
    rules[-1] = {"when": [rf"\[part_{files - 1:02}\.py#"], "calls": [done]}
    return [*rules, {"when": ["^#1 completed"], "say": "Done with reading."}]


@pytest.mark.feature("S1", "S4", "S9")
@pytest.mark.parametrize(("threshold", "evicted"), [(2_000, True), (1_000_000, False)], ids=["above", "below"])
def test_a_completed_task_gives_its_outputs_back(tmp_path: Path, threshold: int, evicted: bool) -> None:
    """Above the threshold of the settings; the first request after the completion no longer holds them."""
    root = tmp_path / "project"
    _large(root, 20)
    with Provider(following(msgspec.convert({"rules": _with_tasks(20)}, ModelScript))) as provider:
        options = AgentOptions(root, "local/m", provider.url, "chat", "native", ask=everything)
        settings = settings_in(tmp_path, **{"context.semantic": threshold, "context.economic": False})
        agent = agent_for(options, settings, "x")
        assert agent.work("Read them all, please.") == "Done with reading."
        agent.close()
        *_, before, after = (asked.body for asked in provider.asked)
    assert b"def step_1_3(" in before
    assert (b"def step_1_3(" in after) is not evicted
    assert (b"task 'Read' done; laconic recall" in after) is evicted


@pytest.mark.feature("S1")
def test_a_refused_completion_evicts_nothing(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _large(root, 6)
    rules = _with_tasks(6)
    rules[-2]["calls"][0]["arguments"]["id"] = "7"
    rules[-1] = {"when": ["There is no task #7"], "say": "It is not there."}
    with Provider(following(msgspec.convert({"rules": rules}, ModelScript))) as provider:
        options = AgentOptions(root, "local/m", provider.url, "chat", "native", ask=everything)
        settings = settings_in(tmp_path, **{"context.semantic": 2_000, "context.economic": False})
        agent = agent_for(options, settings, "x")
        assert agent.work("Read them all, please.") == "It is not there."
        agent.close()
        assert b"def step_1_3(" in provider.asked[-1].body


# limits


@pytest.mark.parametrize(
    ("limits", "word"),
    [(RunLimits(turns=2), "turns"), (RunLimits(tokens=1_500), "tokens"), (RunLimits(dollars=0.005), "dollars")],
)
def test_a_limit_ends_the_session_where_it_can_be_gone_on_with(tmp_path: Path, limits: RunLimits, word: str) -> None:
    case = repair("first_price")
    (tmp_path / "project").mkdir()
    root = case.set_up(tmp_path / "project")
    settings = settings_in(tmp_path, prices="*=3/15")
    agent = agent_for(scripted(root, case.script, limits=limits), settings, case.task)
    with pytest.raises(LimitReached, match=word):
        agent.work(case.task)
    agent.close()
    assert not case.passes(root)
    agent = agent_for(scripted(root, case.script, resume=agent.record.id), settings)
    agent.work()
    agent.close()
    assert case.passes(root)


def test_a_limit_in_dollars_needs_a_price(tmp_path: Path) -> None:
    """A limit that cannot be kept is refused before anything is asked."""
    options = AgentOptions(tmp_path, "openai/some-model", limits=RunLimits(dollars=1.0))
    with pytest.raises(UsageError, match="some-model is unknown"):
        agent_for(options, settings_in(tmp_path), "x")


# death


def test_a_killed_session_is_gone_on_with(tmp_path: Path) -> None:
    """Killed while a command runs: the call gets a result that says so, the work goes on, and its file is whole."""
    case = repair("first_price")
    (tmp_path / "project").mkdir()
    root = case.set_up(tmp_path / "project")
    slow = "touch started; sleep 2; python3 -m unittest -q"
    table = case.script.read_text("utf-8").replace("python3 -m unittest -q", slow, 1)
    path = tmp_path / "model.toml"
    path.write_text(
        table + '\n[[rule]]\nwhen = ["session was interrupted"]\n'
        'calls = [{ name = "run", arguments = { command = "python3 -m unittest -q" } }]\n',
        "utf-8",
    )
    environment = {**os.environ, "LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_STATE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "laconic", "agent", "--yes", "-p", "--model", f"scripted:{path}"]
    first = subprocess.Popen([*command, case.task], cwd=root, env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not (root / "started").exists() and time.monotonic() < until:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    (file,) = (tmp_path / "agent").glob("*.jsonl")
    with file.open("ab") as out:
        out.write(b'{"type":"message","mess')  # a line that the kill cut off
    assert file.stat().st_mode & 0o077 == 0
    done = subprocess.run(
        [*command, "--resume", "last"], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "total left out the first price; it starts at the first now, and all tests pass.\n"
    assert case.passes(root)
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert rows[-1]["reason"] == "done"
    assert "was interrupted" in rows[3]["message"]["content"][0]["content"]


def test_a_session_is_read_back_as_it_was(tmp_path: Path) -> None:
    case = repair("two_tasks")
    (tmp_path / "project").mkdir()
    root = case.set_up(tmp_path / "project")
    agent = agent_for(scripted(root, case.script, format="gemini"), settings_in(tmp_path), case.task)
    agent.work(case.task)
    with pytest.raises(UsageError, match="Another process"):
        resume(tmp_path / "state" / "agent", agent.record.id, root)
    agent.close()
    again = resume(tmp_path / "state" / "agent", agent.record.id, root)
    assert again.messages == agent.record.messages
    assert {type(message) for message in again.messages} == {UserMessage, AssistantMessage, ToolResults}
    again.close()


def test_an_answer_that_was_given_before_the_kill_is_given_again(tmp_path: Path) -> None:
    """No model is asked for it a second time."""
    agent = _agent(tmp_path, {"say": "Done."})
    agent.work("x")
    agent.close()
    again = agent_for(
        scripted(tmp_path / "project", tmp_path / "model.toml", resume=agent.record.id), settings_in(tmp_path)
    )
    assert again.work() == "Done."
    assert again.recorder.spent.turns == 0
    again.close()


def test_what_the_project_tells_agents_is_told(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"say": "Done."})
    assert "notes for agents" not in agent.client.settings.system
    agent.close()
    notes = "Run `make check` before you are done.\n" + "".join(f"- rule {n} says {n * n}\n" for n in range(3000))
    (tmp_path / "project" / "AGENTS.md").write_text(notes, "utf-8")
    agent = _agent(tmp_path, {"say": "Done."})
    assert "Run `make check` before you are done." in agent.client.settings.system
    assert counter()(agent.client.settings.system) < 2_500
    agent.close()
