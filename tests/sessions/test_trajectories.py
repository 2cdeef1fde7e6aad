"""Sessions of our own agent: what was added is read back, wherever a kill cut the file off."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import LaconicError
from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.trajectories import begin, resume
from laconic.sessions.transcripts import transcripts
from laconic.wire.messages import AssistantMessage, CallResult, Message, ModelCall, ToolResults, UserMessage

texts = st.text(max_size=30)
ids = st.sampled_from(["", "a", "b1"])
uses = st.builds(ModelCall, st.sampled_from(["read", "run"]), st.dictionaries(texts, texts, max_size=2), ids)
outcomes = st.builds(CallResult, st.just("read"), texts, ids, st.booleans())
natives = st.one_of(st.none(), st.dictionaries(texts, texts, max_size=2))
messages = st.one_of(
    st.builds(UserMessage, texts.filter(bool)),
    st.builds(AssistantMessage, texts, st.lists(uses, max_size=2).map(tuple), natives).map(
        lambda said: said if said.native is None else AssistantMessage(said.text, said.uses, said.native, "gemini")
    ),
    st.builds(ToolResults, st.lists(outcomes, min_size=1, max_size=2).map(tuple)),
)


@given(said=st.lists(messages, max_size=5), cut=st.integers(0, 400))
def test_what_was_added_is_read_back_up_to_where_the_file_was_cut_off(said: list[Message], cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = begin(folder, folder, "m", "task", "1")
        sizes = [record.path.stat().st_size]
        for message in said:
            record.add(message)
            sizes.append(record.path.stat().st_size)
        record.close()
        end = max(sizes[0], sizes[-1] - cut)
        with record.path.open("r+b") as file:
            file.truncate(end)
        again = resume(folder, record.id, folder)
        whole = sum(size <= end for size in sizes[1:])
        assert again.messages == said[:whole]
        again.add(UserMessage("go on"))
        again.close()
        last = resume(folder, "last", folder)
        assert last.messages == [*said[:whole], UserMessage("go on")]
        last.close()


def test_the_newest_session_of_a_folder_is_its_own(tmp_path: Path) -> None:
    """Sessions of other folders, files of others and names that lead elsewhere are not taken for it."""
    begin(tmp_path, Path("/other"), "m", "t", "1").close()
    (tmp_path / "noise.jsonl").write_text("{}\n", "utf-8")
    for name in ("last", "../noise", "missing", "noise"):
        with pytest.raises(LaconicError):
            resume(tmp_path, name, tmp_path)


def test_a_replay_reads_it(tmp_path: Path) -> None:
    record = begin(tmp_path, tmp_path, "m", "t", "1")
    record.add(UserMessage("Look."))
    record.add(AssistantMessage("", (ModelCall("read", {"targets": ["a"]}), ModelCall("read", {"targets": ["b"]}))))
    record.add(ToolResults((CallResult("read", "1\ta"), CallResult("read", "1\tb"))))
    record.add(AssistantMessage("Seen."))
    record.end("done")
    record.close()
    (found,) = transcripts(record.path)
    assert [message["role"] for message in found.messages] == ["user", "assistant", "user", "assistant"]
    content = found.messages[2]["content"]
    assert isinstance(content, list)
    assert [block["content"] for block in content] == ["1\ta", "1\tb"]


def test_what_stands_behind_a_damaged_line_is_kept_apart(tmp_path: Path) -> None:
    """A line that a kill cut off is not worth keeping; damage in the middle is."""
    record = begin(tmp_path, tmp_path, "m", "task", "1")
    for number in range(4):
        record.add(UserMessage(f"message {number}"))
    record.close()
    data = record.path.read_bytes()
    record.path.write_bytes(data + b'{"type": "mess')
    resume(tmp_path, record.id, tmp_path).close()
    assert list_ruined(record.path) == []
    spoiled = data.replace(b"message 2", b"\xff\xfe\xfd")
    record.path.write_bytes(spoiled)
    again = resume(tmp_path, record.id, tmp_path)
    again.close()
    assert again.messages == [UserMessage("message 0"), UserMessage("message 1")]
    (kept,) = list_ruined(record.path)
    assert kept.read_bytes() == spoiled
