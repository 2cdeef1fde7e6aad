"""A team's database is backed up and restored with PostgreSQL's own programs: everything is there afterwards."""

from __future__ import annotations

import subprocess
from pathlib import Path

from laconic.sessions.archive import Archive
from laconic.sessions.store import SharedStore
from laconic.sessions.team.budgets import Budgets, Charge
from laconic.sessions.team.keys import TeamKey, TeamKeys
from laconic.sessions.team.repositories import Repositories
from laconic.sessions.team.spending import TeamSpending, ViewerRights
from laconic.sessions.turn_record import TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns
from laconic_benchmarks.postgres_server import PostgresServer, find_postgres


def test_a_restored_database_goes_on(postgres_server: PostgresServer, tmp_path: Path) -> None:
    first, second = postgres_server.new_database(), postgres_server.new_database()
    keys = TeamKeys(SharedStore(first, "team"))
    shown, key = keys.create(TeamKey(id="", owner="alice", budget=5.0), "root")
    charge = Charge(request="r", key=key, at=1.0, project="p", client="c", model="m", prompt=1, output=1, dollars=2.0)
    Budgets(keys.file).settle(charge)
    Repositories(keys.file).grant("everybody", "acme/*", "root")
    ref = Archive(SharedStore(first, "archive"), 1_000_000).put("s", "t", b"said")
    Turns(SharedStore(first, "turns")).add(TurnRecord(TurnIdentity("s"), 1.0))
    dump, programs = tmp_path / "laconic.dump", find_postgres()
    _run(programs / "pg_dump", "--format=custom", f"--file={dump}", f"--dbname={first}")
    _run(programs / "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={second}", str(dump))
    restored = TeamKeys(SharedStore(second, "team"))
    found = restored.find(key.id)
    assert found is not None
    assert found.opens(shown)
    spent = [line.dollars for line in TeamSpending(restored.file).lines("person", 0.0, ViewerRights("admin"))]
    assert spent == [2.0]
    assert [grant.pattern for grant in Repositories(restored.file).grants()] == ["acme/*"]
    assert Archive(SharedStore(second, "archive"), 1_000_000).get(ref) == b"said"
    turns = Turns(SharedStore(second, "turns"))
    turns.add(TurnRecord(TurnIdentity("later"), 2.0))  # numbers that the database hands out go on as well
    assert turns.sessions() == ["s", "later"]


def _run(program: Path, *args: str) -> None:
    subprocess.run([str(program), *args], check=True, capture_output=True)
