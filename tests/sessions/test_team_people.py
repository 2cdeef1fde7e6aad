"""What is kept about a person can be deleted: afterwards no table has the name."""

from __future__ import annotations

import pytest
from tests.conftest import Places

from laconic.cli.main import main
from laconic.config import Settings
from laconic.sessions.archive import Archive
from laconic.sessions.team.budgets import Budgets, Charge
from laconic.sessions.team.keys import TeamKey, TeamKeys
from laconic.sessions.team.people import NOBODY, delete_person
from laconic.sessions.team.repositories import Repositories
from laconic.sessions.team.spending import TeamSpending, ViewerRights
from laconic.sessions.turn_record import TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns

_TABLES = ("team_key", "spent", "reserved", "asked", "spending", "audit", "repository_grant")


def _spend(keys: TeamKeys, key: TeamKey, request: str) -> None:
    Budgets(keys.file).settle(
        Charge(
            request=request,
            key=key,
            at=1.0,
            project="p",
            client="c",
            model="m",
            prompt=10,
            output=1,
            dollars=2.0,
            dollars_whole=3.0,
        )
    )


def test_a_person_leaves_and_sums_stay(places: Places) -> None:
    keys = TeamKeys(places("team"))
    for owner in ("alice", "alicent"):
        _, key = keys.create(
            TeamKey(id="", owner=owner, team="blue", purse=f"login {owner}", budget=5.0), f"{owner} by login"
        )
        _spend(keys, key, owner)
        Repositories(keys.file).grant(f"owner {owner}", "acme/*", "root")
    before = TeamSpending(keys.file).lines("team", 0.0, ViewerRights("admin"))
    gone = delete_person(keys.file, "alice", "root")
    assert (len(gone.keys), gone.grants, gone.figures) == (1, 1, 1)
    kept = ""
    for table in _TABLES:
        kept += repr(keys.file.connection().execute(f"SELECT * FROM {table}").fetchall())
    assert "alice'" not in kept
    assert "alice " not in kept
    assert "alice," not in kept
    assert "alicent" in kept
    assert TeamSpending(keys.file).lines("team", 0.0, ViewerRights("admin")) == before
    people = TeamSpending(keys.file).lines("person", 0.0, ViewerRights("admin"))
    assert sorted(line.name for line in people) == [NOBODY, "alicent"]
    delete_person(keys.file, "alicent", "root")  # a second one is added to the same figures
    assert [line.requests for line in TeamSpending(keys.file).lines("person", 0.0, ViewerRights("admin"))] == [2]


def test_conversations_go_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LACONIC_CACHE_DIR", settings.text("cache_dir"))
    monkeypatch.setenv("LACONIC_STATE_DIR", settings.text("state_dir"))
    turns, archive = Turns.of(settings), Archive.of(settings)
    for person in ("alice", "bob"):
        turns.add(TurnRecord(TurnIdentity(f"session of {person}", person=person), 1.0))
        archive.put(f"session of {person}", "t", f"said by {person}".encode())
    assert main(["team", "person", "delete", "alice", "--yes"]) == 0
    assert turns.sessions() == ["session of bob"]
    assert [entry.session for entry in archive.entries()] == ["session of bob"]
