"""Every line of a definition is marked with what it is, from the syntax tree."""

from __future__ import annotations

from laconic.index.parse.marks import marks
from laconic.records import Span

PYTHON = b'''@decorated
def f(
    a,
    b=[1 if x else 2 for x in y],
):
    """
    First.

    More.
    """
    if a:
        value = a if b else c
    else:
        raise Oops("return here")
    with a as b, open(
        c
    ) as d:
        yield b

    def inner(): return 1
    text = "return"
    return [
        x for x in value
    ]
'''


def test_python_lines_are_marked() -> None:
    assert marks("a.py", PYTHON) == "sssssddmmmfbfrfbbr sbrbc "


def test_a_span_is_marked_alone() -> None:
    assert marks("a.py", PYTHON, Span(11, 14)) == "fbfr"


def test_a_file_in_no_known_language_is_marked_by_guessing() -> None:
    assert marks("a.unknown", b"function f()\n  x\n  return y\nend") == "sbrc"
