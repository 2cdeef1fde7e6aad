"""A file in the middle of a merge: both sides are known, and nothing else of it is lost."""

from __future__ import annotations

import pytest

from laconic.index.parse import parse

_PYTHON = """def before():
    pass


<<<<<<< HEAD
def ours():
    return one()
||||||| base
=======
def theirs():
    return two()
>>>>>>> side


class After:
    pass
"""


@pytest.mark.parametrize("text", [_PYTHON, _PYTHON.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_both_sides_of_a_conflict_are_known(text: str) -> None:
    parsed = parse("merged.py", text.encode())
    lines = {each.name: each.line for each in parsed.definitions}
    assert lines == {"before": 1, "ours": 6, "theirs": 10, "After": 15}
    assert {"one", "two"} <= {each.name for each in parsed.references}
    assert not {"HEAD", "side", "base"} & {each.name for each in parsed.references}
    assert parsed.faults == 0


def test_a_row_of_signs_without_a_conflict_stays() -> None:
    parsed = parse("plain.md", b"Title\n=======\n\ntext\n")
    assert [each.name for each in parsed.definitions] == ["Title"]
