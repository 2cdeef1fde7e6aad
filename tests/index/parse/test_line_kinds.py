"""Every line of a definition is marked with what it is, from the syntax tree."""

from __future__ import annotations

import pytest

from laconic.index.parse.line_kinds import read_line_kinds
from laconic.records import Span
from laconic.reduce.code import fold

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


SWITCHES = {
    "Reader.java": """class Reader {
  int doPeek(int c) {
    switch (c) {
      case '[':
        log("an array begins in the text that is read here");
        return ARRAY;
      case ';':
      case ',':
        log("a separator is found in the text that is read here");
        return SEPARATOR;
      default:
        log("nothing is known in the text that is read here");
        return NONE;
    }
  }
}
""",
    "reader.go": """package reader

func doPeek(c int) int {
	switch c {
	case '[':
		log("an array begins in the text that is read here")
		return ARRAY
	case ';', ',':
		log("a separator is found in the text that is read here")
		return SEPARATOR
	}
	if c > 0 {
		log("nothing is known in the text that is read here")
	} else {
		log("the text that is read here ends")
		return NONE
	}
	return END
}
""",
    "reader.rs": """fn do_peek(c: char) -> Token {
    match c {
        '[' => {
            log("an array begins in the text that is read here");
            return Token::Array;
        }
        ';' | ',' => return Token::Separator,
        _ => {
            log("nothing is known in the text that is read here");
            return Token::None;
        }
    }
}
""",
}


@pytest.mark.feature("U3")
@pytest.mark.parametrize("path", SWITCHES)
def test_a_return_keeps_the_case_and_the_switch_that_lead_to_it(path: str) -> None:
    text = SWITCHES[path]
    lines = text.splitlines()
    shown = fold(lines, read_line_kinds(path, text.encode())[: len(lines)], cost=len).text
    for line in lines:
        if any(word in line for word in ("return", "switch", "match", "case", "default", "=>", "if c", "else")):
            assert line in shown, line
    assert "log(" not in shown
