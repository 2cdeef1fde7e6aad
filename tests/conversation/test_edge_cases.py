"""Edge cases of conversations that concern the engine, one test each, by their number in the list of cases."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.conversation.sessions import (
    FORMAT,
    Clock,
    body,
    code,
    count,
    engine,
    listing,
    long_session,
    opened,
    read,
    run,
    send,
    texts,
    turn,
    user,
)

from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.errors import ArchiveUnavailable
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

Json = dict[str, Any]


def _replay(one: Any, messages: list[Json], **fields: Any) -> PreparedRequest:
    """Every request of a session; the last one's outcome."""
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            send(one, messages[:at], **fields)
    return send(one, messages, **fields)


def _log(words: str, lines: int = 400) -> str:
    return "\n".join(f"{words} {n} " + "x" * 40 for n in range(lines))


def test_case_01_a_single_large_result_is_the_last_message() -> None:
    messages = [user("go"), *read("a", "src/a.py", code("alpha", 9000))]
    sent = send(engine(), messages, RequestLimits(window=40_000))
    assert opened(sent).faults() == []
    assert count(sent.body.decode()) < 48_000
    assert "left out" in texts(sent)[0]


def test_case_02_a_tail_that_alone_is_too_large_is_the_providers_to_refuse() -> None:
    messages = [user("word " * 60_000)]
    assert send(engine(), messages, RequestLimits(window=20_000)).body == body(messages)


def test_case_03_of_three_parallel_calls_only_the_large_result_shrinks() -> None:
    names = ("a", "b", "c")
    outputs = {"a": "fine", "b": listing(code("beta", 300)), "c": "ok"}
    calls = [{"type": "tool_use", "id": n, "name": "Read", "input": {"file_path": f"{n}.py"}} for n in names]
    results = [{"type": "tool_result", "tool_use_id": n, "content": outputs[n]} for n in names]
    messages = [user("go"), {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    sent = texts(_replay(engine(), [*messages, *long_session(80)[1:]]))
    assert (sent[0], sent[2]) == ("fine", "ok")
    assert len(sent[1]) < len(outputs["b"]) / 3


def test_case_04_a_trim_takes_whole_exchanges() -> None:
    messages = long_session(40)
    sent = opened(_replay(engine(EngineOptions(economic=False)), messages))
    assert sent.faults() == []
    one = engine(EngineOptions(economic=False))
    cut = opened(send(one, messages, RequestLimits(window=3_000)))
    assert cut.faults() == []
    assert len(cut.exchanges) < len(sent.exchanges)


def test_case_05_an_unanswered_call_stays() -> None:
    messages = long_session(60)[:-1]
    sent = opened(send(engine(), messages))
    assert sent.turns[-1].raw == json.dumps(messages[-1], ensure_ascii=False).encode()


def test_case_06_a_call_that_was_denied_is_a_result_like_any_other() -> None:
    messages = [user("go"), *turn("a", "Bash", {"command": "rm x"}, "The user refused.", error=True)]
    sent = opened(send(engine(), messages))
    assert [b.error for t in sent.turns for b in t.blocks if b.kind == "result"] == [True]


def test_case_07_an_orphan_result_passes() -> None:
    messages = [
        user("go"),
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z", "content": "1"}]},
    ]
    assert texts(send(engine(), messages)) == ["1"]


def test_case_08_the_same_call_id_in_two_turns_keeps_both_results() -> None:
    messages = [user("go"), *run("same", "ls", "one"), *run("same", "ls", "two"), *run("same", "ls", "one")]
    assert texts(send(engine(), messages)) == ["one", "two", "one"]


def test_case_10_images_beside_a_text_stay() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    content = [{"type": "text", "text": listing(code("alpha", 20))}, image]
    sent = opened(send(engine(), [user("go"), *turn("a", "Read", {"file_path": "a.py"}, content)]))
    result = next(b for t in sent.turns for b in t.blocks if b.kind == "result")
    assert result.images == 1
    assert "→" not in result.text


def test_case_16_users_in_a_row_stay_after_a_trim() -> None:
    messages: list[Json] = [user("first"), user("second"), *long_session(30)[1:], user("last")]
    sent = opened(send(engine(EngineOptions(economic=False)), messages, RequestLimits(window=5_000)))
    said = [b.text for t in sent.turns for b in t.blocks if b.kind == "text" and t.role == "user"]
    assert said[0] == "first"
    assert {"second", "last"} <= set(said)


def test_case_20_blocks_of_the_providers_own_tools_pass_untouched() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result"}]}
    odd = {"type": "brand_new", "payload": [1, 2.50]}
    messages = [user("go"), {"role": "assistant", "content": [search, found, odd]}, *long_session(60)[1:]]
    sent = opened(_replay(engine(), messages))
    raws = [json.loads(b.raw) for t in sent.turns for b in t.blocks if b.kind in {"server", "opaque"}]
    assert raws == [search, found, odd]


@pytest.mark.feature("S10")
def test_case_21_a_stubbed_result_leaves_the_thinking_before_its_call() -> None:
    messages = long_session(70)
    thought = {"type": "thinking", "thinking": "let me see", "signature": "EqQBCkYI…=="}
    redacted = {"type": "redacted_thinking", "data": "EmwKAhgB"}
    messages[1]["content"] = [thought, redacted, *messages[1]["content"]]
    sent = opened(_replay(engine(), messages))
    assert [json.loads(b.raw) for b in sent.turns[1].blocks[:2]] == [thought, redacted]
    assert "left out" in sent.turns[2].blocks[0].text


def test_case_28_after_an_event_a_hundred_turns_share_their_prefix() -> None:
    clock = Clock()
    one = engine(clock=clock)
    session, length = long_session(60), 1
    while not send(one, session[:length]).mode:
        length += 2
    messages = session[:length]
    before = send(one, messages).body[:-2]
    for _ in range(100):
        messages = [*messages, {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}, user("on")]
        now = send(one, messages)
        assert now.body.startswith(before)
        before = now.body[:-2]


def test_case_29_hysteresis_keeps_events_apart() -> None:
    one = engine(EngineOptions(economic=False, standard=20_000))
    messages, events = long_session(200), []
    for at, message in enumerate(messages):
        if message["role"] == "assistant" and send(one, messages[:at]).mode == "standard":
            events.append(at // 2)
    assert len(events) >= 2
    assert min(b - a for a, b in pairwise(events)) >= 5


def test_case_30_a_restart_gives_the_same_bytes() -> None:
    store, archive = MemoryStore(), MemoryArchive()
    messages = long_session(90)
    first = _replay(engine(store=store, archive=archive), messages)
    assert any("left out" in text for text in texts(first))
    assert send(engine(store=store, archive=archive), messages).body == first.body


def test_case_31_a_rewind_keeps_what_was_decided() -> None:
    one = engine()
    messages = long_session(90)
    _replay(one, messages)
    back = send(one, messages[:61])
    assert opened(back).faults() == []
    assert any("left out" in text for text in texts(back))
    assert send(one, messages[:61]).body == back.body


def test_case_32_two_branches_are_served_in_turn() -> None:
    one = engine()
    trunk = long_session(60)
    left, right = [*trunk, *run("l", "left", "L")], [*trunk, *run("r", "right", "R")]
    _replay(one, trunk)
    first, second = send(one, left), send(one, right)
    assert (send(one, left).body, send(one, right).body) == (first.body, second.body)


def test_case_33_an_old_message_that_the_client_edits_is_sent_as_it_is_now() -> None:
    one = engine()
    messages = long_session(60)
    _replay(one, messages)
    edited = json.loads(json.dumps(messages))
    edited[2]["content"][0]["content"] = "entirely new words"
    assert texts(send(one, edited))[0] == "entirely new words"


def test_case_34_after_the_clients_own_compaction_stale_decisions_do_not_apply() -> None:
    one = engine()
    messages = long_session(80)
    _replay(one, messages)
    compacted = [user("Summary of all before."), *messages[121:]]
    sent = opened(send(one, compacted))
    assert sent.faults() == []
    assert len(sent.turns) == len(compacted)


def test_case_35_and_36_tools_and_cache_marks_may_change_from_turn_to_turn() -> None:
    one = engine()
    messages = long_session(80)
    first = _replay(one, messages)
    marked = json.loads(json.dumps(messages))
    marked[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    again = send(one, marked, tools=[{"name": "New", "input_schema": {}}])
    assert [b.text for t in opened(again).turns for b in t.blocks] == [
        b.text for t in opened(first).turns for b in t.blocks
    ]
    assert b'"cache_control"' in again.body


def test_case_50_reports_of_nothing_change_nothing() -> None:
    from laconic.wire.usage import Usage

    one = engine()
    one.observe("a", None, None)
    one.observe("a", Usage(), None)
    assert not one.quota("a").known


def test_case_53_a_recap_that_is_no_smaller_is_not_made() -> None:
    messages = [user("go")]
    for number in range(3):
        messages += run(f"c{number}", "true", "ok")
    messages.append(user("word " * 3000))
    assert send(engine(), messages, RequestLimits(window=2_000)).body == body(messages)


@pytest.mark.feature("S7")
def test_case_54_a_recap_stays_within_its_budget() -> None:
    sent = send(engine(EngineOptions(economic=False)), long_session(60, size=3), RequestLimits(window=3_500))
    said = [b.text for t in opened(sent).turns for b in t.blocks if b.kind == "text"]
    assert any(text.startswith("[laconic] Recap") and count(text) <= 3_000 for text in said)
    assert opened(sent).faults() == []


def test_case_56_survival_at_the_first_turn() -> None:
    one = engine()
    one.quota("acc", 2_000)
    messages = [user("go"), *read("a", "src/a.py", code("alpha", 30))]
    sent = send(one, messages, RequestLimits(account="acc"))
    assert opened(sent).faults() == []


def test_case_57_a_file_that_is_read_evicted_and_read_again_is_shown_again() -> None:
    text = code("alpha", 60)
    messages = [user("go"), *read("a", "src/alpha.py", text), *long_session(90)[1:]]
    one = engine()
    _replay(one, messages)
    sent = texts(send(one, [*messages, *read("z", "src/alpha.py", text)]))
    assert "left out" in sent[0]
    assert all(line in sent[-1] for line in text.split("\n"))


def test_case_59_a_stub_that_would_be_larger_is_not_made() -> None:
    messages = [user("go")]
    for number in range(60):
        messages += run(f"c{number}", f"echo {number}", f"{number}")
    sent = _replay(engine(), messages)
    assert all(text.split("\n")[0].isdigit() for text in texts(sent))
    assert len(sent.body) <= len(body(messages))


def _in_steps(one: Any, messages: list[Json]) -> PreparedRequest:
    """Every tenth request of a session; the last one's outcome."""
    for at in range(21, len(messages), 20):
        send(one, messages[:at])
    return send(one, messages)


def test_case_48_many_tombstones_roll_up_into_lines_that_keep_their_promise() -> None:
    archive, store, messages = MemoryArchive(), MemoryStore(), long_session(500)
    sent = _in_steps(engine(archive=archive, store=store), messages)
    lines = [line for text in texts(sent) for line in text.split("\n") if re.search("calls? left out", line)]
    assert opened(sent).faults() == []
    assert lines and len(texts(sent)) < 250
    assert all(count(line) <= 400 for line in lines)
    kept = archive.kept[lines[0].rsplit(" ", 1)[1].rstrip("]")].decode()
    assert "make step3" in lines[0] and "make step3" in kept and "step 3 of the log, entry 19" in kept
    again = send(engine(archive=archive, store=store), messages)
    assert again.body == sent.body


def test_case_48_turns_with_thinking_do_not_roll_up() -> None:
    messages = long_session(120)
    for message in messages:
        if message["role"] == "assistant":
            message["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    sent = _in_steps(engine(), messages)
    assert "left out" in texts(sent)[0]
    assert len(texts(sent)) == 120


def test_case_49_a_read_only_archive_evicts_nothing_and_the_request_passes() -> None:
    class ReadOnly(MemoryStore):
        def record(self, session: str, known: int, event: Any, branch: Any) -> None:
            raise ArchiveUnavailable("Read-only.", "Name another folder.")

    messages = long_session(60)
    sent = _replay(engine(store=ReadOnly()), messages)
    assert sent.body == body(messages)


def test_case_13_chat_messages_with_null_content_and_calls_stay_so() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]
    raw = json.dumps({"model": "gpt-5", "messages": messages}).encode()
    assert engine().prepare("s", parse(format_named("chat"), raw)).body == raw


def test_case_25_a_switch_of_the_model_changes_no_earlier_byte() -> None:
    one, messages = engine(), long_session(60)
    before = _replay(one, messages)
    after = send(one, [*messages, *run("z", "ls", "a")], model="claude-opus-4-5")
    history = before.body.split(b'"messages": [', 1)[1][:-2]
    assert after.body.split(b'"messages": [', 1)[1].startswith(history)


def test_case_37_a_digest_that_did_not_change_is_equal_byte_for_byte() -> None:
    one, messages = engine(EngineOptions(meta=True)), long_session(60)
    sent = _replay(one, messages)
    assert "tokens" in opened(sent).turns[-1].blocks[-1].text
    assert send(one, messages).body == sent.body


def test_case_44_a_recap_names_the_commands_that_ran() -> None:
    sent = send(engine(EngineOptions(economic=False)), long_session(80), RequestLimits(window=5_000))
    recap = opened(sent).turns[1].blocks[0].text
    assert sent.rung == "recap" and opened(sent).faults() == []
    assert "make step" in recap


@pytest.mark.parametrize("text", ["漢字かな交じり文 " * 300, "a=b;c(d);" * 400, "QUJDREVG+/" * 400, "🙂👩‍🚀 " * 300])
def test_case_51_the_size_of_unusual_texts_is_counted_and_not_guessed(text: str) -> None:
    counted = counter("o200k_base")
    one = ConversationEngine(MemoryStore(), MemoryArchive(), Clock(), counted)
    messages = [user("go"), *turn("a", "Read", {"file_path": "x.txt"}, text)]
    sent = send(one, messages)
    exact = counted("[]") + counted('"s"')
    exact += sum(counted(block.raw.decode()) for turn in opened(sent).turns for block in turn.blocks)
    assert abs(sent.tokens - exact) <= 0.1 * exact


def test_case_52_a_window_that_is_not_known_cuts_nothing_and_a_smaller_one_that_is_served_counts() -> None:
    messages, options = long_session(80), EngineOptions(economic=False, semantic=1 << 60, standard=0)
    for model in ("no-such-model", "deepseek/deepseek-r1:free"):
        assert send(engine(options), messages, model=model).mode == ""
    served = send(engine(options), messages, RequestLimits(window=12_000))
    assert served.mode == "window" and served.tokens <= 12_000


def test_case_55_two_processes_that_clear_up_at_once_leave_one_valid_history() -> None:
    store, archive, messages = MemoryStore(), MemoryArchive(), long_session(80)
    one, other = (engine(store=store, archive=archive) for _ in range(2))
    at = next(n for n in range(3, len(messages), 2) if send(one, messages[:n]).mode)
    fresh = engine(archive=archive)
    for n in range(3, at + 1, 2):
        send(other if n == at else fresh, messages[:n])
    mine, theirs = send(one, messages[: at + 2]), send(other, messages[: at + 2])
    assert opened(mine).faults() == opened(theirs).faults() == []
    assert send(engine(store=store, archive=archive), messages[: at + 2]).body in {mine.body, theirs.body}


def test_case_58_what_is_shown_of_a_long_list_says_of_how_many() -> None:
    archive = MemoryArchive()
    log = "\n".join(
        f"2026-01-02 03:04:{n % 60:02} INFO worker {n % 9} handled request {n} in {n % 31} ms" for n in range(900)
    )
    (shown,) = texts(send(engine(archive=archive), [user("go"), *run("a", "make serve", log)]))
    assert count(shown) < count(log) / 4
    assert "900 lines" in shown
    assert archive.kept[shown.rsplit("laconic recall ", 1)[1].split("]")[0].split()[0]].decode() == log


def test_every_case_of_the_list_has_a_test_of_its_number() -> None:
    files = Path(__file__).parent.parent.rglob("test_*.py")
    named_after = re.compile(r"^def test_(?:case_)?((?:\d\d_and_)?\d\d)_", re.M)
    names = [name for file in files for name in named_after.findall(file.read_text("utf-8"))]
    assert {int(number) for name in names for number in name.split("_and_")} >= set(range(1, 63))


def test_a_history_that_the_provider_keeps_is_left_alone() -> None:
    items = [{"type": "function_call_output", "call_id": "c", "output": listing(code("alpha"))}]
    raw = json.dumps({"model": "gpt-5", "previous_response_id": "resp_1", "input": items}).encode()
    assert engine().prepare("s", parse(format_named("responses"), raw)).body == raw


def test_an_untouched_request_leaves_as_the_very_same_bytes() -> None:
    raw = body([user("hello"), *run("a", "ls", "x")])
    assert engine().prepare("s", parse(FORMAT, raw)).body == raw


def test_recaps_accumulate_what_earlier_ones_said() -> None:
    """After several recaps every file that was changed is still named, within the room that a recap has."""
    one = engine(EngineOptions(economic=False, standard=0))
    messages: list[Json] = [user("go")]
    recaps: dict[str, None] = {}
    for number in range(60):
        edit = {"file_path": f"src/part{number}/file{number}.py", "content": code(f"part{number}", 10)}
        messages += turn(f"w{number}", "Write", edit, "written", text=f"Now for part {number}. " * 160)
        sent = opened(send(one, messages, RequestLimits(window=12_000)))
        found = [
            block.text for each in sent.turns for block in each.blocks if block.text.startswith("[laconic] Recap")
        ]
        recaps.update(dict.fromkeys(found))
    assert len(recaps) >= 4
    newest = list(recaps)[-1]
    last = max(number for number in range(60) if f"file{number}.py" in newest)
    assert [number for number in range(last) if f"file{number}.py" not in newest] == []
    assert count(newest) <= 3_000
