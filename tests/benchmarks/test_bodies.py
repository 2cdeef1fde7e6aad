"""Which rows of code return something, for the benchmark of folded bodies."""

from __future__ import annotations

from laconic_benchmarks.bodies import return_rows

SCRIPT = b"""function f(x) {
  if (!x) return 1;
  const page = `
    return (
      ${x.map(() => { return 2; })}
    )`;
  // return here
  it.return(3);
  throw page;
}
"""


def test_returns_count_where_the_tree_knows_them_and_not_in_strings_comments_or_names() -> None:
    assert return_rows("javascript", SCRIPT) == [1, 4, 8]


def test_raising_counts_where_it_is_a_call() -> None:
    assert return_rows("ruby", b"def f\n  raise 'raise'\nend") == [1]
