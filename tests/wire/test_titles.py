"""Titles are the user's own words."""

from __future__ import annotations

import pytest

from laconic.wire.titles import choose_title


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["Fix the parser"], "Fix the parser"),
        (["<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "Fix  the\nparser"], "Fix the parser"),
        (["<system-reminder>a</system-reminder>\n<b>c</b> Fix the parser"], "Fix the parser"),
        (["Caveat: the messages below were ...", "<command-name>/clear</command-name>", "Go"], "Go"),
        (["<user_instructions>\nonly"], ""),
        ([], ""),
    ],
)
def test_what_clients_write_around_is_no_title(texts: list[str], title: str) -> None:
    assert choose_title(texts) == title


def test_a_title_is_short() -> None:
    assert len(choose_title(["word " * 500])) <= 120
