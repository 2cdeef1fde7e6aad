"""Edits against the file as it is now: made at the right place, or refused with the way on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.edits.anchors import anchor
from laconic.edits.request import edit
from laconic.edits.resolve import Refusal, ResolvedEdit, ShownVersion, resolve
from laconic.edits.source import join, split
from laconic.records import Span

FILE = b"import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 1\n"
LINE = st.sampled_from(["a", "b", "    a", "", "}", "c"])
TEXT = st.lists(LINE, min_size=1, max_size=10).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


def outcome(live: bytes, *calls: dict[str, object], read: bytes | None = None) -> bytes | list[Refusal]:
    """What a call gives for a file that was read whole as `read` and now is `live`."""
    before = split(live if read is None else read)
    seen = {before.tag: ShownVersion(before.lines, (Span(1, max(1, len(before.lines))),))}
    edits = [edit({"path": "file.py", **({} if "find" in call else {"tag": before.tag}), **call}) for call in calls]
    got = resolve(list(enumerate(edits, 1)), split(live), seen)
    return join(got.source) if isinstance(got, ResolvedEdit) else got


def refusal(live: bytes, *calls: dict[str, object], read: bytes | None = None) -> Refusal:
    got = outcome(live, *calls, read=read)
    assert isinstance(got, list)
    assert all(one.problem and one.fix for one in got)
    return got[0]


@pytest.mark.feature("P5")
def test_replace_insert_and_delete_in_one_call_refer_to_what_was_read() -> None:
    got = outcome(
        FILE,
        {"start": 1, "text": "import re\nimport sys"},
        {"insert_after": 5, "text": "    # one"},
        {"insert_before": 8, "text": "@cache"},
        {"start": 9, "end": 9, "text": "    return 2"},
        {"start": 3},
    )
    assert got == (
        b"import re\nimport sys\n\ndef one():\n    return 1\n    # one\n\n\n@cache\ndef two():\n    return 2\n"
    )


@pytest.mark.feature("P5")
def test_an_edit_follows_its_lines_when_others_were_added_above() -> None:
    live = b"# licence\n" + FILE
    assert outcome(live, {"start": 9, "text": "    return 2"}, read=FILE) == live[:-2] + b"2\n"


@pytest.mark.feature("P5")
@pytest.mark.parametrize(
    "live",
    [
        FILE.replace(b"    return 1\n\n", b"     return 1\n\n"),
        FILE.replace(b"    return 1\n\n", b"\treturn 1\n\n"),
        FILE.replace(b"    return 1\n\n", b"    return 3\n\n"),
        FILE.replace(b"    return 1\n\n", b"\n"),
        b"",
    ],
    ids=["one more space", "a tab", "other text", "deleted", "emptied"],
)
def test_60_a_changed_line_is_refused_with_the_fresh_lines_and_the_tag(live: bytes) -> None:
    got = refusal(live, {"start": 5, "text": "    return 2"}, read=FILE)
    assert "changed since" in got.problem
    assert split(live).tag in got.fix
    assert got.look and all(1 <= span.start <= max(1, span.end) for span in got.look)


@pytest.mark.feature("P5")
def test_61_of_two_equal_lines_the_deleted_one_is_not_mistaken_for_the_other() -> None:
    read = b"start\n    x()\n    x()\nend\n"
    live = b"start\n    x()\nend\n"
    assert "distinguished from another" in refusal(live, {"start": 2, "text": "    y()"}, read=read).problem
    assert "distinguished from another" in refusal(live, {"start": 3, "text": "    y()"}, read=read).problem


def test_61_a_formatter_that_touched_everything_leaves_no_place_to_guess() -> None:
    read = b"a = {1:2}\nb = {3:4}\n"
    live = b"a = {1: 2}\nb = {3: 4}\n"
    assert refusal(live, {"start": 2, "text": "b = {}"}, read=read).look == (Span(1, 2),)


def test_text_that_came_into_the_gap_makes_an_insertion_ambiguous() -> None:
    live = FILE.replace(b"def two", b"# here\ndef two")
    assert "gap below line 7" in refusal(live, {"insert_after": 7, "text": "x"}, read=FILE).problem
    assert "gap below line 7" in refusal(live, {"insert_before": 8, "text": "x"}, read=FILE).problem
    assert isinstance(outcome(live, {"insert_after": 8, "text": "x"}, read=FILE), bytes)


@pytest.mark.feature("P5")
def test_61_a_tag_that_was_never_given_out_is_refused_even_when_the_line_looks_right() -> None:
    got = refusal(FILE, {"tag": "000000", "start": 5, "text": "x"})
    assert "No version 000000" in got.problem
    assert got.look == (Span(2, 8),)


@pytest.mark.feature("P5")
def test_61_lines_that_were_not_shown_cannot_be_edited() -> None:
    source = split(FILE)
    seen = {source.tag: ShownVersion(source.lines, (Span(1, 2), Span(3, 4)))}
    allowed = resolve([(1, edit({"tag": source.tag, "start": 1, "end": 4, "text": "x"}))], source, seen)
    assert isinstance(allowed, ResolvedEdit)
    refused = resolve([(1, edit({"tag": source.tag, "start": 4, "end": 6, "text": "x"}))], source, seen)
    assert isinstance(refused, list)
    assert "Lines 5-6" in refused[0].problem
    assert any(span.start <= 5 and span.end >= 6 for span in refused[0].look)


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        (({"start": 4, "end": 5, "text": "x"}, {"start": 5, "text": "y"}), "same place"),
        (({"insert_after": 4, "text": "x"}, {"insert_before": 5, "text": "y"}), "same place"),
        (({"start": 4, "end": 5, "text": "x"}, {"insert_after": 4, "text": "y"}), "same place"),
        (({"start": 4, "text": "x"}, {"find": "one", "text": "y"}), "same place"),
        (({"start": 5, "text": "    return 1"},), "already reads like that"),
        (({"start": 1, "text": "x"}, {"start": 5, "text": "    return 1"}), "already reads like that"),
        (({"start": 10, "text": "x"},), "has 9 lines"),
        (({"find": "return 1", "text": "return 2"},), "2 times, not 1"),
        (({"find": "return 3", "text": "return 2"},), "0 times, not 1"),
    ],
)
@pytest.mark.feature("P5")
def test_overlaps_repeats_and_idle_edits_are_errors(calls: tuple[dict[str, object], ...], problem: str) -> None:
    got = outcome(FILE, *calls)
    assert isinstance(got, list)
    assert any(problem in one.problem for one in got)


def test_all_problems_are_told_at_once() -> None:
    got = outcome(FILE, {"start": 40, "text": "x"}, {"find": "nothing", "text": "y"})
    assert isinstance(got, list)
    assert [one.number for one in got] == [1, 2]


@pytest.mark.feature("P5")
def test_an_exact_text_is_replaced_as_often_as_expected() -> None:
    assert outcome(FILE, {"find": "return 1", "text": "return 2", "count": 2}) == FILE.replace(
        b"return 1", b"return 2"
    )
    assert outcome(b"a a\r\na\r\n", {"find": "a\na", "text": "b\n\nb"}) == b"a b\r\n\r\nb\r\n"
    assert outcome(b"a a a\n", {"find": "a", "text": "b", "count": 3}) == b"b b b\n"
    assert outcome(b"one\ntwo\n", {"find": "one\n", "text": ""}) == b"two\n"


def test_a_text_that_only_differs_in_white_space_is_pointed_at() -> None:
    assert refusal(FILE, {"find": "  return   1", "text": "x"}).look == (Span(2, 8), Span(6, 9))


@pytest.mark.feature("P5")
@pytest.mark.parametrize(
    ("live", "call", "after"),
    [
        (b"a\nb", {"start": 2}, b"a"),
        (b"a\nb\n", {"start": 2}, b"a\n"),
        (b"a\nb", {"start": 2, "text": "c\n"}, b"a\nc"),
        (b"a\nb", {"insert_after": 2, "text": "c"}, b"a\nb\nc"),
        (b"a\r\nb\r\n", {"insert_after": 1, "text": "x\ny"}, b"a\r\nx\r\ny\r\nb\r\n"),
        (b"\xef\xbb\xbfa\n", {"start": 1, "text": "b"}, b"\xef\xbb\xbfb\n"),
        (b"a\xff\nb\n", {"start": 2, "text": "c"}, b"a\xff\nc\n"),
        (b"a\nb\r\nc\n", {"start": 1, "end": 3, "text": "a\nb\nx"}, b"a\nb\r\nx\n"),
        (b"", {"insert_before": 1, "text": "a"}, b"a\n"),
        (b"a\n", {"start": 1}, b""),
    ],
    ids=["last", "last of many", "no newline", "append", "crlf", "bom", "not utf-8", "mixed", "empty", "all"],
)
def test_60_byte_order_mark_endings_and_final_newline_are_kept(
    live: bytes, call: dict[str, object], after: bytes
) -> None:
    assert outcome(live, call) == after


def test_an_anchor_must_belong_to_its_line() -> None:
    mark = anchor("    return 1")
    assert isinstance(outcome(FILE, {"start": f"5:{mark}", "text": "x"}), bytes)
    assert isinstance(outcome(b"# new\n" + FILE, {"start": f"5:{mark}", "text": "x"}, read=FILE), bytes)
    got = refusal(FILE, {"start": f"4:{mark}", "text": "x"})
    assert f"does not have the anchor {mark}" in got.problem
    assert Span(2, 8) in got.look


@pytest.mark.feature("P5")
@given(TEXT, TEXT, st.data())
def test_an_edit_that_is_made_changes_the_named_lines_and_nothing_else(
    read: bytes, live: bytes, draw: st.DataObject
) -> None:
    """Whatever happened to the file in between."""
    lines, now = split(read).lines, split(live).lines
    start = draw.draw(st.integers(1, len(lines)))
    end = draw.draw(st.integers(start, len(lines)))
    got = outcome(live, {"start": start, "end": end, "text": "NEW"}, read=read)
    if isinstance(got, bytes):
        changed = split(got).lines
        at = changed.index("NEW")
        assert now == (*changed[:at], *lines[start - 1 : end], *changed[at + 1 :])
