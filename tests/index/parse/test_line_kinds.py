"""Every line of a definition is marked with what it is, from the syntax tree."""

from __future__ import annotations

from laconic.index.parse.line_kinds import read_line_kinds
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
    assert read_line_kinds("a.py", PYTHON) == "sssssddmmmfbfrfbbr sbrbc "


def test_a_span_is_marked_alone() -> None:
    assert read_line_kinds("a.py", PYTHON, Span(11, 14)) == "fbfr"


def test_a_file_in_no_known_language_is_marked_by_guessing() -> None:
    assert read_line_kinds("a.unknown", b"function f()\n  x\n  return y\nend") == "sbrc"


RUST = b"""#[cfg(all(
    unix,
    feature = "time",
))]
/// Waits, which [
///
/// more of it
#[inline]
fn f() {
    select! {
        _ = a() => { return 3; }
    }
    Err(4)
}
"""


def test_attributes_belong_to_the_signature_and_are_no_documentation() -> None:
    assert read_line_kinds("a.rs", RUST) == "ssssdmmssbrbrc "


def test_what_leaves_a_function_is_marked_where_it_is_a_call_or_a_labelled_jump() -> None:
    assert read_line_kinds("a.rb", b"def f\n  raise 'x' unless y\n  1\nend") == "srrc"
    assert read_line_kinds("a.go", b"func f() {\n\tpanic(1)\n}") == "src"
    assert read_line_kinds("a.sh", b"f() {\n  exit 3\n}") == "src"
    assert read_line_kinds("a.kt", b"fun f() {\n  xs.map {\n    return@map 3\n  }\n}") == "sfrcc"
    assert read_line_kinds("a.cpp", b"int f() {\n  co_return 3;\n}") == "src"
    assert read_line_kinds("a.lua", b"function f()\n  error('x')\nend") == "src"
