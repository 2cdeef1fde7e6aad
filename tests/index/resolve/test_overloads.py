"""Calls of functions of one name are told apart by their arguments, as far as these say it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laconic.index.resolve import Code, find_symbol, references

Repository = Callable[[dict[str, str]], Code]

MONEY = """class Money {
  static Money of(int cents) { return null; }
  static Money of(int cents, String currency) { return null; }
  static Money of(String text, Object... more) { return null; }
}
"""
USES = """class Use {
  void one(int n) { Money.of(n); }
  void two() { Money.of(2, "USD"); }
  void text() { Money.of("3"); }
  void many() { Money.of("3", sum(1, 2), new int[] {1, 2}, ","); }
  void nested() { Money.of(Money.of(1,
      "EUR").cents(), "CHF"); }
  void named() { run(Money::of); }
}
"""


def _lines(repository: Repository, files: dict[str, str], name: str, uses: str) -> list[int]:
    code = repository(files)
    (symbol,) = find_symbol(code, name)
    return [use.line for use in references(code, symbol, alone=True) if use.path == uses]


@pytest.mark.feature("C8")
@pytest.mark.parametrize(
    ("line", "wanted"), [(2, [2, 8]), (3, [3, 6, 6, 8]), (4, [2, 4, 5, 6, 8])], ids=["one", "two", "any number"]
)
def test_a_call_belongs_to_the_overloads_that_accept_its_arguments(
    repository: Repository, line: int, wanted: list[int]
) -> None:
    files = {"Money.java": MONEY, "Use.java": USES}
    assert sorted(_lines(repository, files, f"Money.java:{line}", "Use.java")) == wanted


def test_a_default_value_in_a_header_holds_for_the_body_behind_it(repository: Repository) -> None:
    files = {
        "shape.h": "class Shape {\n public:\n  void draw(int s = 1);\n  void draw(int size, int color, int x);\n};\n",
        "shape.cc": '#include "shape.h"\nvoid Shape::draw(int s) {}\nvoid Shape::draw(int size, int color, int x) {}\n',
        "use.cc": '#include "shape.h"\nvoid f(Shape s) {\n  s.draw();\n  s.draw(1);\n  s.draw(1, 2, 3);\n}\n',
    }
    assert _lines(repository, files, "shape.cc:2", "use.cc") == [3, 4]
    assert _lines(repository, files, "shape.cc:3", "use.cc") == [5]
