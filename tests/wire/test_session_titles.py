"""Titles are the user's own words."""

from __future__ import annotations

import pytest

from laconic.wire.session_titles import choose_title, find_project


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


@pytest.mark.parametrize(
    ("text", "project"),
    [
        ("<environment_context>\n  <cwd>/home/me/shop</cwd>", "/home/me/shop"),
        ("# Environment\n - Primary working directory: /home/me/shop\n - Platform: linux", "/home/me/shop"),
        ('"Working directory: /home/me/shop\\n  Is directory a git repo: yes"', "/home/me/shop"),
        ("- **Workspace Directories:**\n  - /home/me/shop\n", "/home/me/shop"),
        ("Fix the parser", ""),
    ],
)
def test_the_project_is_the_folder_that_a_client_says_it_works_in(text: str, project: str) -> None:
    assert find_project(["You are an agent.", text]) == project


@pytest.mark.parametrize(
    ("text", "title"),
    [('"Fix the parser."', "Fix the parser."), ('"One" and "two"', '"One" and "two"'), ('"', '"')],
)
def test_quotes_around_a_whole_prompt_are_the_clients(text: str, title: str) -> None:
    assert choose_title([text]) == title
