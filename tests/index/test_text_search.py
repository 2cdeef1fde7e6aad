"""Text search finds exactly what a scan of every line finds, and never hangs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import UsageError
from laconic.index.text_search import LINE_CHARS, TextMatches, TextQuery, find
from laconic.index.trigrams import for_literal, for_regex
from laconic.index.workspace_index import Index

TEXTS = {
    "one.py": "def first():\n    return Second\n\nclass Second:\n    x = 'ä' + first()\n",
    "two.txt": "first line\r\nsecond FIRST line\r\nno\r\n",
    "three.md": "nothing here\nfoo\n  bar\nlast",
    "long.js": "var a = 1;" * 500 + "needle" + "b" * 1000 + "\n",
    "grün.txt": "GRÜN und grün\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    root = tmp_path / "code"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_bytes(text.encode())
    index = Index.open(root, tmp_path / "cache")
    index.build()
    return index


def places(found: TextMatches) -> list[tuple[str, int]]:
    return [(file.path, line.number) for file in found.files for line in file.lines]


def search(index: Index, text: str, *, regex: bool = False, ignore_case: bool | None = None) -> TextMatches:
    return find(index.store, index.root, TextQuery(text, regex, ignore_case))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("first", [("one.py", 1), ("one.py", 5), ("two.txt", 1), ("two.txt", 2)]),
        ("FIRST", [("two.txt", 2)]),
        ("x", [("one.py", 5)]),
        ("grün", [("grün.txt", 1)]),
        ("absent", []),
    ],
)
def test_literals(index: Index, text: str, wanted: list[tuple[str, int]]) -> None:
    """Small letters match any case; a capital letter makes the case count."""
    assert places(search(index, text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r"^class \w+:$", [("one.py", 4)]),
        (r"(second|class) F", [("two.txt", 2)]),
        (r"foo\s+bar", []),
        (r"foo[^x]*", [("three.md", 2)]),
        (r"first\(\)", [("one.py", 1), ("one.py", 5)]),
        (r"^$", [("one.py", 3)]),
    ],
)
def test_regular_expressions_match_within_a_line(index: Index, text: str, wanted: list[tuple[str, int]]) -> None:
    assert places(search(index, text, regex=True)) == wanted


def test_a_long_line_is_cut_around_the_match(index: Index) -> None:
    (file,) = search(index, "needle").files
    (line,) = file.lines
    assert line.column == 5000
    assert "needle" in line.text
    assert len(line.text) == LINE_CHARS


def test_all_lines_are_counted_and_only_some_kept(index: Index) -> None:
    (index.root / "many.txt").write_text("first\n" * 100)
    index.build()
    found = find(index.store, index.root, TextQuery("first", per_file=3, paths=lambda path: path == "many.txt"))
    assert (found.total, len(found.files[0].lines)) == (100, 3)


def test_what_is_on_disk_now_counts(index: Index) -> None:
    (index.root / "two.txt").write_text("\n\nfirst\n")
    (index.root / "one.py").unlink()
    assert places(search(index, "first")) == [("two.txt", 3)]


def test_a_hostile_pattern_ends_in_time(index: Index) -> None:
    (index.root / "hostile.txt").write_text("a" * 5000 + "!\n")
    index.build()
    found = find(index.store, index.root, TextQuery("(a|aa)+(a|aa)+[^a]?[cde]$", regex=True, seconds=0.2))
    assert found.unread > 0


def test_a_broken_pattern_is_a_usage_error(index: Index) -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        search(index, "(", regex=True)


def branches(query: str) -> list[set[str]]:
    """A query as what it demands: any of these, each with all of its trigrams."""
    gram = re.compile(r'"((?:[^"]|"")*)"')
    return [
        {found.replace('""', '"') for found in gram.findall(branch)} for branch in query.split(") OR (") if branch
    ]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("abcd", [{"abc", "bcd"}]),
        ("xab+cde", [{"xab", "bcd", "cde"}]),
        ("abc?def", [{"def"}]),
        ("(abc|xyz)def", [{"abc", "def"}, {"xyz", "def"}]),
        ("abc|x", []),
        (r"a\.bc\(", []),
        (r"\bfoo\b", [{"foo"}]),
        ("[abc]def", [{"def"}]),
        ("(?!abc)def", [{"def"}]),
        ("(abc)?", []),
        ("(abc){2,}", [{"abc"}]),
        (r"foo\.barb", [{"foo", "bar", "arb"}]),
    ],
)
def test_the_trigrams_that_a_pattern_demands(pattern: str, wanted: list[set[str]]) -> None:
    assert branches(for_regex(pattern)) == wanted


ATOMS = st.sampled_from(["a", "b", "ab", "cde", ".", r"\.", "[ab]", "[^a]", r"\w", "(?:ab|c)", "(abc|cde)", "(?=a)"])
QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,2}", "*?"])
PATTERNS = st.lists(st.tuples(ATOMS, QUANTIFIERS).map("".join), min_size=1, max_size=5).map("".join)


@given(st.lists(PATTERNS, min_size=1, max_size=3).map("|".join), st.text("abcde.", max_size=12))
def test_no_match_lacks_the_trigrams(pattern: str, text: str) -> None:
    """A file that matches is always among the candidates."""
    demanded = branches(for_regex(pattern))
    if re.search(pattern, text) and demanded:
        assert any(all(gram in text for gram in branch) for branch in demanded)


@given(st.text(min_size=3, max_size=40), st.text(max_size=10), st.text(max_size=10))
def test_a_literal_holds_its_own_trigrams(text: str, before: str, after: str) -> None:
    for branch in branches(for_literal(text)):
        assert all(gram in (before + text + after).lower() for gram in branch)
