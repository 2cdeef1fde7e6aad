"""Repositories and grants, in a file and in PostgreSQL."""

from __future__ import annotations

import pytest
from tests.conftest import Places

from laconic.errors import UnknownName, UsageError
from laconic.sessions.team.keys import TeamKey
from laconic.sessions.team.repositories import Repositories, choose_readable, name_subject
from laconic.sessions.team.tables import open_team

ALICE = TeamKey(id="1", owner="alice", team="blue")
BOB = TeamKey(id="2", owner="bob", role="admin")


@pytest.fixture
def repositories(places: Places) -> Repositories:
    found = Repositories(open_team(places("team")), now=lambda: 7.0)
    for name in ("acme/billing", "acme/web", "other/tool"):
        found.add(name, f"https://git.example.com/{name}.git", f"git.example.com/{name}", "admin")
    return found


def _readable(repositories: Repositories, key: TeamKey) -> list[str]:
    return [each.name for each in choose_readable(repositories.list(), repositories.grants(), key)]


def test_only_grants_give_rights(repositories: Repositories) -> None:
    assert _readable(repositories, ALICE) == _readable(repositories, BOB) == []
    repositories.grant("team blue", "acme/*", "admin")
    repositories.grant("owner bob", "other/tool", "admin")
    assert _readable(repositories, ALICE) == ["acme/billing", "acme/web"]
    assert _readable(repositories, BOB) == ["other/tool"]
    repositories.grant(name_subject("", ""), "acme/web", "admin")
    assert _readable(repositories, BOB) == ["acme/web", "other/tool"]
    repositories.withdraw("team blue", "acme/*", "admin")
    assert _readable(repositories, ALICE) == ["acme/web"]
    with pytest.raises(UnknownName):
        repositories.withdraw("team blue", "acme/*", "admin")


def test_nobody_without_a_team_is_in_the_team_without_a_name(repositories: Repositories) -> None:
    repositories.grant("team ", "acme/*", "admin")
    assert _readable(repositories, BOB) == []


def test_stages_of_a_push(repositories: Repositories) -> None:
    repositories.note_family("acme/web", "acme/web")
    repositories.note("acme/web", "fetched", "a" * 40)
    repositories.note("acme/web", "writing", "a" * 40)
    repositories.note_trouble("acme/web", "no space")
    found = repositories.find("acme/web")
    assert found is not None
    assert (found.writing, found.published, found.trouble) == ("a" * 40, "", "no space")
    repositories.note("acme/web", "published", "a" * 40)
    found = repositories.find_origin("git.example.com/acme/web")[0]
    assert (found.writing, found.published, found.trouble, found.at) == ("", "a" * 40, "", 7.0)
    repositories.remove("acme/web", "admin")
    assert repositories.find("acme/web") is None
    with pytest.raises(UnknownName):
        repositories.remove("acme/web", "admin")


@pytest.mark.parametrize("name", ["", "..", "a/../b", "-x", "a b", "a/b+c", "a\0b", "/a", "x" * 300])
def test_names_that_are_refused(repositories: Repositories, name: str) -> None:
    with pytest.raises(UsageError):
        repositories.add(name, "https://git.example.com/x", "git.example.com/x", "admin")


@pytest.mark.parametrize("url", ["", "-u", "ext::sh -c id", "--upload-pack=id", "relative/path", "https://a b"])
def test_addresses_that_are_refused(repositories: Repositories, url: str) -> None:
    with pytest.raises(UsageError):
        repositories.add("acme/new", url, "x", "admin")
