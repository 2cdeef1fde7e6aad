"""Edits of real files in a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.edits.anchors import anchor
from laconic.edits.source import split
from laconic.errors import EditRefused, LaconicError, OutsideWorkspace, UsageError
from laconic.records import Span
from laconic.tool_runtime.edit_workspace import EditWorkspace, StaleEdit, edit, undo
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

CODE = b"def one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[EditWorkspace]:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_bytes(CODE)
    (root / "b.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    made = EditWorkspace(root, tmp_path / "cache")
    yield made
    made.close()


def read(desk: EditWorkspace, path: str, *spans: Span) -> str:
    """What a read does: show lines, and note that they were shown."""
    source = split((desk.root / path).read_bytes())
    desk.snapshots.remember(path, source, spans or [Span(1, len(source.lines))])
    return source.tag


@pytest.mark.feature("P5")
def test_an_edit_answers_with_the_new_tag_and_the_changed_place(desk: EditWorkspace) -> None:
    tag = read(desk, "a.py")
    answer = edit(desk, [{"tag": tag, "start": 2, "text": "    return 10"}])
    new = split((desk.root / "a.py").read_bytes())
    assert answer == f"[a.py#{new.tag} 6 lines]\n-- 2 in place of 1 line\n1\tdef one():\n2\t    return 10\n"
    assert new.lines[1] == "    return 10"


@pytest.mark.feature("P5")
def test_the_old_tag_goes_on_working_for_lines_that_did_not_change(desk: EditWorkspace) -> None:
    """An agent that read once may make several edits, with the numbers it saw."""
    tag = read(desk, "a.py")
    edit(desk, [{"path": "a.py", "tag": tag, "insert_before": 1, "text": "import os\n\n"}])
    edit(desk, [{"path": "a.py", "tag": tag, "start": 6, "text": "    return 20"}])
    assert (desk.root / "a.py").read_bytes() == b"import os\n\n" + CODE.replace(b"return 2", b"return 20")


def test_the_new_tag_works_without_reading_again(desk: EditWorkspace) -> None:
    tag = read(desk, "a.py", Span(1, 2))
    edit(desk, [{"tag": tag, "insert_after": 1, "text": "    # new"}])
    new = split((desk.root / "a.py").read_bytes()).tag
    edit(desk, [{"tag": new, "start": 2, "end": 3, "text": "    return 7"}])
    with pytest.raises(EditRefused, match="never shown"):
        edit(desk, [{"path": "a.py", "tag": new, "start": 7, "text": "    return 8"}])


@pytest.mark.feature("P5")
def test_one_refused_edit_stops_the_whole_call_and_shows_fresh_lines(desk: EditWorkspace) -> None:
    a, b = read(desk, "a.py"), read(desk, "b.py")
    (desk.root / "b.py").write_bytes(b"x = 1\r\ny = 3\r\n")
    with pytest.raises(StaleEdit) as caught:
        edit(desk, [{"tag": a, "start": 2, "text": "    return 0"}, {"tag": b, "start": 2, "text": "y = 9"}])
    now = split(b"x = 1\ny = 3\n").tag
    assert f"[b.py#{now} 2 lines]\n1\tx = 1\n2\ty = 3" in str(caught.value)
    assert (desk.root / "a.py").read_bytes() == CODE
    desk.note_shown(caught.value)
    edit(desk, [{"tag": now, "start": 2, "text": "y = 9"}])
    assert (desk.root / "b.py").read_bytes() == b"x = 1\r\ny = 9\r\n"


@pytest.mark.feature("P5")
def test_several_files_with_create_are_written_together_and_undone(desk: EditWorkspace) -> None:
    tag = read(desk, "a.py")
    edit(
        desk,
        [
            {"tag": tag, "start": 5, "end": 6},
            {"path": "b.py", "find": "x = 1\ny", "text": "z"},
            {"path": "new/c.py", "create": True, "text": "c = 1\n"},
        ],
    )
    assert (desk.root / "b.py").read_bytes() == b"z = 2\r\n"
    assert (desk.root / "new/c.py").read_bytes() == b"c = 1\n"
    assert undo(desk).startswith("Undone.\n[a.py#")
    assert (desk.root / "a.py").read_bytes() == CODE
    assert not (desk.root / "new").exists()


def test_a_dry_run_shows_and_writes_nothing(desk: EditWorkspace) -> None:
    answer = edit(desk, [{"path": "a.py", "find": "one", "text": "uno"}], dry=True)
    assert answer.startswith("Nothing was written")
    assert "1\tdef uno():" in answer
    assert (desk.root / "a.py").read_bytes() == CODE


def test_it_says_when_a_file_stops_parsing(desk: EditWorkspace) -> None:
    assert "SYNTAX ERRORS" in edit(desk, [{"path": "a.py", "find": "one():", "text": "one(:"}])
    assert "as before" in edit(desk, [{"path": "a.py", "find": "two", "text": "three"}])


def test_a_link_keeps_pointing_and_its_file_keeps_its_mode(desk: EditWorkspace) -> None:
    (desk.root / "a.py").chmod(0o755)
    (desk.root / "link.py").symlink_to("a.py")
    edit(desk, [{"path": "link.py", "find": "one", "text": "uno"}])
    assert (desk.root / "link.py").is_symlink()
    assert (desk.root / "a.py").read_bytes() == CODE.replace(b"one", b"uno")
    assert (desk.root / "a.py").stat().st_mode & 0o777 == 0o755


def test_an_edit_reaches_all_hard_links_and_says_so(desk: EditWorkspace) -> None:
    (desk.root / "other.py").hardlink_to(desk.root / "a.py")
    assert "hard links" in edit(desk, [{"path": "a.py", "find": "one", "text": "uno"}])
    assert (desk.root / "other.py").read_bytes() == CODE.replace(b"one", b"uno")
    assert "hard links" not in edit(desk, [{"path": "b.py", "find": "x", "text": "z"}])


def test_two_names_of_one_file_collide(desk: EditWorkspace) -> None:
    (desk.root / "link.py").symlink_to("a.py")
    with pytest.raises(EditRefused, match="same place"):
        edit(
            desk,
            [
                {"path": "link.py", "find": "one", "text": "uno"},
                {"path": "a.py", "find": "def one", "text": "def eins"},
            ],
        )


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"path": "../out.py", "create": True, "text": "x"}, OutsideWorkspace),
        ({"path": "/etc/passwd", "find": "root", "text": "x"}, OutsideWorkspace),
        ({"path": ".git/config", "create": True, "text": "x"}, EditRefused),
        ({"path": ".GIT/config", "create": True, "text": "x"}, EditRefused),
        ({"path": "sub/.Git/hooks/pre-commit", "create": True, "text": "x"}, EditRefused),
        ({"path": "a.py", "create": True, "text": "x"}, EditRefused),
        ({"path": "none.py", "find": "x", "text": "y"}, EditRefused),
        ({"path": "binary", "find": "x", "text": "y"}, EditRefused),
        ({"path": "folder", "find": "x", "text": "y"}, EditRefused),
        ({"tag": "123456", "start": 1, "text": "y"}, EditRefused),
        ({"path": "a.py", "start": 1, "text": "y"}, UsageError),
    ],
)
def test_what_may_not_be_edited_is_refused_with_a_reason(
    desk: EditWorkspace, call: dict[str, object], error: type[LaconicError]
) -> None:
    (desk.root / "binary").write_bytes(b"x\0")
    (desk.root / "folder").mkdir()
    with pytest.raises(error) as caught:
        edit(desk, [call])
    assert caught.value.problem and caught.value.fix


def test_a_tag_that_two_files_share_needs_the_path(desk: EditWorkspace) -> None:
    (desk.root / "copy.py").write_bytes(CODE)
    tag = read(desk, "a.py")
    read(desk, "copy.py")
    with pytest.raises(EditRefused, match=r"a\.py"):
        edit(desk, [{"tag": tag, "start": 1, "text": "x"}])


@pytest.fixture
def runtime(desk: EditWorkspace, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(desk.root, settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("P5")
def test_what_a_read_showed_can_be_edited_and_nothing_else(runtime: ToolRuntime) -> None:
    tag = runtime.call("read", {"targets": "a.py:1-2"}).text.partition("#")[2][:6]
    assert (
        "was never shown" in runtime.call("edit", {"edits": [{"tag": tag, "start": 6, "text": "    return 3"}]}).text
    )
    reply = runtime.call("edit", {"edits": [{"tag": tag, "start": "2", "text": "    return 3"}]})
    assert not reply.failed
    assert (runtime.root / "a.py").read_bytes() == CODE.replace(b"return 1", b"return 3")
    assert runtime.call("edit", {"undo": True}).text.startswith("Undone.")
    assert (runtime.root / "a.py").read_bytes() == CODE


@pytest.mark.feature("P5")
def test_reads_can_carry_anchors_that_edits_check(runtime: ToolRuntime) -> None:
    text = runtime.call("read", {"targets": "a.py:1-2", "anchors": True}).text
    mark = anchor("    return 1")
    assert f"2:{mark}\t    return 1" in text
    tag = text.partition("#")[2][:6]
    assert runtime.call("edit", {"edits": [{"tag": tag, "start": f"1:{mark}", "text": "x"}]}).failed
    assert not runtime.call("edit", {"edits": [{"tag": tag, "start": f"2:{mark}", "text": "    return 9"}]}).failed


@pytest.mark.feature("P3", "P5")
@pytest.mark.parametrize("text", ['", }"', "{a: 1}", "None", "'x',]", "\\u0041"])
def test_what_looks_like_broken_json_inside_a_string_is_written_as_it_is(runtime: ToolRuntime, text: str) -> None:
    reply = runtime.call("edit", {"edits": [{"path": "new.txt", "create": True, "text": f"{text}\n"}]})
    assert not reply.failed
    assert (runtime.root / "new.txt").read_text() == f"{text}\n"


@pytest.mark.feature("P3", "P5")
def test_a_call_that_was_cut_off_is_not_run(runtime: ToolRuntime) -> None:
    cut = '[{"path": "a.py", "find": "one", "text": "uno"}, {"path": "b.py", "find": "x", "te'
    assert runtime.call("edit", {"edits": cut}).failed
    assert (runtime.root / "a.py").read_bytes() == CODE


@pytest.mark.feature("P5")
def test_a_line_that_was_shown_clipped_cannot_be_replaced_by_its_number(runtime: ToolRuntime) -> None:
    (runtime.root / "long.txt").write_text(f"short\n{'x' * 5000}\nend\n")
    tag = runtime.call("read", {"targets": "long.txt:1-3"}).text.partition("#")[2][:6]
    for _ in range(2):  # a refusal does not show it to its end either
        assert "Line 2" in runtime.call("edit", {"edits": [{"tag": tag, "start": 2, "text": "y"}]}).text
    assert not runtime.call("edit", {"edits": [{"tag": tag, "start": 3, "text": "stop"}]}).failed


@pytest.mark.feature("P5")
def test_a_refusal_lets_only_those_lines_be_edited_that_it_printed(runtime: ToolRuntime) -> None:
    """Forty long lines do not fit: those that were left out stay unknown to the agent, and closed to it."""
    (runtime.root / "long.txt").write_text("".join(f"{n} {'word ' * 70}\n" for n in range(1, 61)))
    tag = runtime.call("read", {"targets": "long.txt:1-1"}).text.partition("#")[2][:6]
    refusal = runtime.call("edit", {"edits": [{"tag": tag, "start": 1, "end": 40, "text": "x"}], "budget": 600})
    assert refusal.failed
    assert refusal.tokens <= 600
    printed = {int(row.split("\t")[0]) for row in refusal.text.splitlines() if "\t" in row}
    assert printed and max(printed) < 40
    beyond = max(printed) + 1
    again = runtime.call("edit", {"edits": [{"tag": tag, "start": beyond, "text": "x"}], "dry_run": True})
    assert "was never shown" in again.text
    assert not runtime.call("edit", {"edits": [{"tag": tag, "start": max(printed), "text": "x"}]}).failed


def test_a_plane_without_editing_changes_nothing_and_keeps_no_copies(desk: EditWorkspace, settings: Settings) -> None:
    closed = ToolRuntime(desk.root, settings, tools(), editing=False)
    try:
        shown = closed.call("read", {"targets": "a.py"})
        assert not shown.failed
        reply = closed.call("edit", {"edits": [{"path": "a.py", "find": "one", "text": "uno"}]})
        assert reply.failed
        assert "--edit" in reply.text
        assert closed.call("write_file", {"path": "b.py", "create": True, "text": "x"}).failed
    finally:
        closed.close()
    assert (desk.root / "a.py").read_bytes() == CODE
    tag = split(CODE).tag
    assert desk.snapshots.paths(tag) == []
