"""What is printed steers no terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from laconic.render.compact_json import dump
from laconic.render.escape_control import visible, visible_name


def test_controls_are_shown_as_escapes() -> None:
    assert visible("a\x1b[31mb\x07\r\n\tc\x7f\x9b") == "a\\x1b[31mb\\x07\\x0d\n\tc\\x7f\\u009b"
    assert visible("x\u202ey") == "x\\u202ey"
    assert visible_name("a\nb\tc") == "a\\x0ab\\x09c"


@given(st.text())
def test_no_control_is_left_and_a_second_time_changes_nothing(text: str) -> None:
    once = visible(text)
    assert all(unicodedata.category(char) != "Cc" or char in "\n\t" for char in once)
    assert visible(once) == once
    assert visible_name(once) == once.replace("\n", "\\x0a").replace("\t", "\\x09")


@given(st.text())
def test_json_means_the_same(text: str) -> None:
    written = dump({"text": text})
    assert json.loads(written) == {"text": text}
    assert all(unicodedata.category(char) != "Cc" for char in written)
