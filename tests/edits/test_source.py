"""Files as lines: nothing is lost on the way there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.edits.source import SourceText, join, splice, split
from laconic.errors import Unreadable

BYTES = st.lists(
    st.sampled_from([b"a", b"  b", b"\n", b"\r\n", b"\r", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\t"])
).map(b"".join)


@pytest.mark.feature("P5")
@given(BYTES)
def test_bytes_survive_splitting_and_joining(data: bytes) -> None:
    assert join(split(data)) == data


@given(BYTES, st.data())
def test_replacing_pieces_by_themselves_changes_nothing(data: bytes, draw: st.DataObject) -> None:
    source = split(data)
    if len(set(source.endings)) > 1:
        return  # in a file of mixed endings new lines take one style
    start = draw.draw(st.integers(0, len(source.pieces)))
    stop = draw.draw(st.integers(start, len(source.pieces)))
    assert splice(source, ((start, stop, source.pieces[start:stop]),)) == source


def test_the_tag_sees_white_space_but_not_line_endings_or_a_byte_order_mark() -> None:
    plain = split(b"if a:\n    b\n").tag
    assert len(plain) == 6
    assert split(b"\xef\xbb\xbfif a:\r\n    b\r\n").tag == plain
    assert split(b"if a:\n     b\n").tag != plain
    assert split(b"if a:\n    b").tag != plain


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", ()), (b"\n", ("",)), (b"a", ("a",)), (b"a\n", ("a",)), (b"a\n\n", ("a", "")), (b"a\r\nb", ("a", "b"))],
)
def test_lines_are_what_an_editor_counts(data: bytes, lines: tuple[str, ...]) -> None:
    assert split(data).lines == lines


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfea\0", b"\xfe\xff\0a"])
def test_what_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        split(data)


def test_new_lines_take_the_ending_of_the_file() -> None:
    assert join(splice(split(b"a\r\nb\r\n"), ((1, 1, ("x",)),))) == b"a\r\nx\r\nb\r\n"


def test_in_a_file_of_mixed_endings_untouched_lines_keep_theirs() -> None:
    assert join(splice(split(b"a\r\nb\nc\r\nd\n"), ((1, 2, ("x", "y")),))) == b"a\r\nx\ny\nc\r\nd\n"


def test_an_emptied_file_is_empty() -> None:
    assert join(splice(split(b"a"), ((0, 1, ()),))) == b""
    assert splice(split(b"a"), ((0, 1, ()),)) == SourceText(("",), ())
