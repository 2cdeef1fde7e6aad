"""Which names are a version control folder somewhere."""

from __future__ import annotations

import pytest

from laconic.edits.protected_names import is_version_control


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git",
        "GIT~1",
        "git~2",
        ".git.",
        ".git . .",
        ".git::$INDEX_ALLOCATION",
        ".g\u200cit",
        "\ufeff.git",
        ".gi\u202et",
        "a\\.git\\config",
        ".hg",
        ".SVN",
        ".jj",
    ],
)
def test_it_is_one_however_it_is_written(name: str) -> None:
    assert is_version_control(name)


@pytest.mark.parametrize(
    "name", [".gitignore", ".github", "git", "git~", "x.git", ".git-blame-ignore-revs", "a.git~1"]
)
def test_it_is_none(name: str) -> None:
    assert not is_version_control(name)
