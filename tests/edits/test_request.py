"""Edits as agents write them."""

from __future__ import annotations

import pytest

from laconic.edits.request import AnchoredLine, CreateFile, Edit, FindAndReplace, InsertLines, ReplaceLines, edit
from laconic.errors import UsageError

REPLACED = Edit("a.py", "4f2a91", ReplaceLines(AnchoredLine(4), AnchoredLine(6), ("x",)))


@pytest.mark.parametrize(
    "given",
    [
        {"path": "a.py", "tag": "4f2a91", "start": 4, "end": 6, "text": "x"},
        {"path": "a.py#4f2a91", "start": "4", "end": "6", "text": "x\n"},
        {"path": "[a.py#4f2a91 312 lines]", "start_line": 4, "end_line": "6", "new_text": "x"},
        {"file_path": "a.py", "tag": "#4f2a91", "lines": "4-6", "content": ["x"]},
        {"path": "a.py", "tag": "a.py#4f2a91", "lines": [4, 6], "new_content": "x", "insert_after": None},
    ],
)
@pytest.mark.feature("C11")
def test_guessed_names_and_forms_mean_the_same(given: dict[str, object]) -> None:
    assert edit(given) == REPLACED


def test_each_form() -> None:
    assert edit({"tag": "4f2a91", "start": 4}).change == ReplaceLines(AnchoredLine(4), AnchoredLine(4), ())
    assert edit({"tag": "4f2a91", "insert_after": 4, "text": "x"}).change == InsertLines(4, AnchoredLine(4), ("x",))
    assert edit({"tag": "4f2a91", "insert_before": 4, "text": "\n"}).change == InsertLines(3, AnchoredLine(4), ("",))
    assert edit({"path": "a", "find": "x", "text": "y", "count": "2"}).change == FindAndReplace("x", "y", 2)
    assert edit({"path": "a", "text": "y\n"}).change == CreateFile("y\n")
    assert edit({"tag": "4f2a91", "start": "4:k3", "end": "6:z0", "text": "x"}).change == ReplaceLines(
        AnchoredLine(4, "k3"), AnchoredLine(6, "z0"), ("x",)
    )


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"path": "a", "tag": "4f2a91", "start": 1, "find": "x", "text": "y"}, "both start and find"),
        ({"path": "a", "tag": "4f2a91", "text": "y"}, "no place"),
        ({"path": "a", "start": 1, "text": "y"}, "needs the tag"),
        ({"tag": "4f2a91", "start": 6, "end": 4, "text": "y"}, "not a range"),
        ({"tag": "4f2a91", "start": 0, "text": "y"}, "not a range"),
        ({"tag": "4f2a91", "start": "four", "text": "y"}, "not a line number"),
        ({"tag": "4f2a91", "start": True, "text": "y"}, "not a line number"),
        ({"tag": "4f2a91", "insert_after": 3}, "nothing to insert"),
        ({"tag": "4f2a91", "insert_before": 0, "text": "y"}, "no line 0"),
        ({"path": "a", "find": "", "text": "y"}, "empty"),
        ({"path": "a", "colour": "red"}, "no field 'colour'"),
        ({"path": "a", "text": "x", "content": "y"}, "twice"),
        ({"start": 1, "text": "x"}, "no file"),
        ({"tag": "4f2a91", "start": 1, "text": 5}, "not a text"),
        ({"tag": "4f2a91", "start": 1, "delete": True, "text": "x"}, "both delete"),
    ],
)
@pytest.mark.feature("C11")
def test_what_is_not_understood_is_answered_with_the_forms(given: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        edit(given)
    assert caught.value.fix
