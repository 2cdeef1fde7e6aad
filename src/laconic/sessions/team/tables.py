"""The tables of a team, in a file or in its database. Nothing here reads or writes a row."""

from __future__ import annotations

from typing import Final

from laconic.config import Settings
from laconic.sessions.store import StoreDatabase, StorePlace, find_place, open_store

FILE: Final = "team.sqlite"  # in the cache folder
DAY: Final = 86_400
_STEPS: Final = (
    """
CREATE TABLE team_key (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, owner TEXT NOT NULL, team TEXT NOT NULL, role TEXT NOT NULL,
  models TEXT NOT NULL, purse TEXT NOT NULL, budget REAL NOT NULL, period TEXT NOT NULL, rate INTEGER NOT NULL,
  note TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, revoked REAL NOT NULL
);
CREATE INDEX team_key_owner ON team_key (owner);
CREATE TABLE spent (
  purse TEXT NOT NULL, since INTEGER NOT NULL, dollars REAL NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (purse, since)
);
CREATE TABLE reserved (
  request TEXT PRIMARY KEY, purse TEXT NOT NULL, dollars REAL NOT NULL, until REAL NOT NULL
);
CREATE INDEX reserved_purse ON reserved (purse);
CREATE TABLE asked (
  id TEXT NOT NULL, minute INTEGER NOT NULL, requests INTEGER NOT NULL, PRIMARY KEY (id, minute)
);
CREATE TABLE spending (
  day INTEGER NOT NULL, person TEXT NOT NULL, team TEXT NOT NULL, project TEXT NOT NULL, client TEXT NOT NULL,
  model TEXT NOT NULL, requests INTEGER NOT NULL, prompt INTEGER NOT NULL, output INTEGER NOT NULL,
  dollars REAL NOT NULL, dollars_whole REAL NOT NULL, PRIMARY KEY (day, person, team, project, client, model)
);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
  detail TEXT NOT NULL
)
""",
    """
CREATE TABLE repository (
  name TEXT PRIMARY KEY, url TEXT NOT NULL, origin TEXT NOT NULL, branch TEXT NOT NULL, added REAL NOT NULL,
  family TEXT NOT NULL, fetched TEXT NOT NULL, writing TEXT NOT NULL, published TEXT NOT NULL, at REAL NOT NULL,
  trouble TEXT NOT NULL
);
CREATE INDEX repository_origin ON repository (origin);
CREATE TABLE repository_grant (
  subject TEXT NOT NULL, pattern TEXT NOT NULL, PRIMARY KEY (subject, pattern)
)
""",
)


def open_team(place: StorePlace) -> StoreDatabase:
    """The tables at a place, made when they are not there."""
    return open_store(place, _STEPS, "team's keys")


def team_place(settings: Settings) -> StorePlace:
    """Where the settings keep them."""
    return find_place(settings, FILE)
