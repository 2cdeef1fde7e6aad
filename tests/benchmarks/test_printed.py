"""Reading which lines an answer shows, for the benchmarks."""

from __future__ import annotations

from laconic_benchmarks.printed import printed

FILE = [
    "import os",
    "",
    "def one():",
    "    a = 1",
    "    b = 2",
    "    c = 3",
    "    return a",
    "",
    "def two():",
    "    return 2",
]
ANSWER = "app/a.py\n9-10 def two():\napp/a.py\n3-7\ndef one():\n    a = 1\n    … 5-6\n    return a\n[2 of 9 places]\n"


def test_names_and_bodies_with_gaps_give_their_lines_and_costs() -> None:
    lines = list(printed(ANSWER, lambda path: FILE if path == "app/a.py" else []))
    assert [(line.number, line.text) for line in lines] == [
        (9, "def two():"),
        (3, "def one():"),
        (4, "    a = 1"),
        (7, "    return a"),
    ]
    assert [line.characters for line in lines] == sorted(line.characters for line in lines)
