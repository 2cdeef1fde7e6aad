"""Hunks that are worth showing."""

from __future__ import annotations

import pytest

from laconic.records import FileChange, Hunk
from laconic.reduce.hunks import blank, choose


def hunk(*body: str) -> Hunk:
    return Hunk(1, sum(line[0] == "-" for line in body), 1, sum(line[0] == "+" for line in body), body)


@pytest.mark.feature("J5")
@pytest.mark.parametrize(
    ("body", "anywhere", "indented"),
    [
        (("-a  b", "+a b"), True, True),
        (("+", "+   "), True, True),
        (("-a", "+    a"), True, False),
        (("-f(a,", "-  b)", "+f(a, b)"), True, False),
        (("-a", "+b"), False, False),
        (("-a",), False, False),
    ],
)
def test_white_space_only_unless_indentation_has_a_meaning(
    body: tuple[str, ...], anywhere: bool, indented: bool
) -> None:
    assert blank(hunk(*body), indented=False) is anywhere
    assert blank(hunk(*body), indented=True) is indented


@pytest.mark.feature("J5")
def test_at_most_twenty_hunks_over_all_files() -> None:
    files = [FileChange(f"{name}.c", "changed", hunks=tuple(hunk("-a", f"+{i}") for i in range(15))) for name in "ab"]
    files.append(FileChange("c.c", "changed", hunks=(hunk("-a", "+ a"),)))
    chosen = choose(files)
    assert [len(one.hunks) for one in chosen] == [15, 5, 0]
    assert [one.total for one in chosen] == [15, 15, 0]
    assert chosen[2].blank == 1
