"""A query is understood by how it is written."""

from __future__ import annotations

import pytest

from laconic.index.search.query import compile_globs, parse_query, split_globs


def test_filters_are_taken_out_of_the_text() -> None:
    query = parse_query("create app path:src/** lang:rust kind:class -path:vendor -tests")
    assert query.text == "create app"
    assert query.filters.paths == ("src/**",)
    assert query.filters.without == ("vendor",)
    assert query.filters.languages == ("rust",)
    assert query.filters.kinds == ("class",)
    assert query.filters.tests is False


@pytest.mark.parametrize("text", ["path: str", "a::b", "def f(path):", "kind of thing", "x - tests"])
def test_code_that_only_looks_like_a_filter_stays(text: str) -> None:
    assert parse_query(text).text == text
    assert not parse_query(text).filters


@pytest.mark.parametrize(
    ("value", "globs"),
    [
        ("src/**|docs/**", ("src/**", "docs/**")),
        ("{docs/**,src/**,TODO.md}", ("docs/**", "src/**", "TODO.md")),
        ("a.py b.py", ("a.py", "b.py")),
        ("*.go,**/*.go", ("*.go", "**/*.go")),
    ],
)
def test_several_patterns_may_be_written_in_one_value(value: str, globs: tuple[str, ...]) -> None:
    assert split_globs(value) == globs


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/*.py", "src/b.py", True),
        ("*.py", "src/a/b.py", True),
        ("src", "src/a.py", True),
        ("src", "source/a.py", False),
        ("./src/", "src/a.py", True),
        ("a?.py", "ab.py", True),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert compile_globs((glob,))(path) is matches
