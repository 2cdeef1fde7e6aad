"""Addresses of one repository are told to be one, and nothing of a login stays in them."""

from __future__ import annotations

import pytest

from laconic.workspace.checkouts import normalise_origin


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/team/code",
        "https://example.org/team/code.git",
        "HTTPS://user:secret@Example.org/team/code.git/",
        "ssh://git@example.org/team/code.git",
        "git@example.org:team/code.git",
        "user:secret@example.org:team/code",
        "//user:secret@example.org/team/code",
        "https://user:sec/ret@example.org/team/code",
        "https://example.org/team/code?access_token=secret",
        "https://example.org/team/code.git#secret",
    ],
)
def test_one_repository_has_one_name(url: str) -> None:
    assert normalise_origin(url) == "example.org/team/code"


def test_a_folder_stays_a_folder() -> None:
    assert normalise_origin("/srv/git/code.git") == "/srv/git/code"
    assert normalise_origin("../code") == "../code"
    assert normalise_origin("") == ""
