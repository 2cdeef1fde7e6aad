"""The tables of the file that records turns, and how their rows are named. Nothing here reads or writes a row."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from laconic.sessions.store import StoreDatabase, StorePlace, open_store

FILE: Final = "turns.sqlite"  # in the cache folder
TABLES: Final = ("session", "turn", "hour", "part", "tally", "block", "malformed", "quota")
HOUR: Final = 3600
DAY: Final = 24 * HOUR
AXES: Final = ("kind", "tool", "file")  # by which parts of all sessions are added up
SUMS: Final = (  # of a turn, added up by session and by hour
    *("input", "cache_read", "cache_write", "output", "whole", "dollars", "dollars_whole"),
    *("long", "output_dollars", "unpriced", "estimated"),
)
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS session (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL, client TEXT NOT NULL, account TEXT NOT NULL,
  upstream TEXT NOT NULL, model TEXT NOT NULL, format TEXT NOT NULL, began REAL NOT NULL, last REAL NOT NULL,
  turns INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0, decisions INTEGER NOT NULL DEFAULT 0,
  input INTEGER NOT NULL DEFAULT 0, cache_read INTEGER NOT NULL DEFAULT 0, cache_write INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0, whole REAL NOT NULL DEFAULT 0, dollars REAL NOT NULL DEFAULT 0,
  dollars_whole REAL NOT NULL DEFAULT 0, last_whole REAL NOT NULL DEFAULT 0, fixed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS session_last ON session (last);
CREATE TABLE IF NOT EXISTS turn (
  session INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL, turn INTEGER NOT NULL, status INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL, context INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL, output INTEGER NOT NULL, whole REAL NOT NULL, dollars REAL NOT NULL,
  dollars_whole REAL NOT NULL, decisions INTEGER NOT NULL, saved INTEGER NOT NULL, mode TEXT NOT NULL,
  rung TEXT NOT NULL, PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turn_at ON turn (at);
CREATE TABLE IF NOT EXISTS hour (
  hour INTEGER PRIMARY KEY, turns INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL, output INTEGER NOT NULL, whole REAL NOT NULL, dollars REAL NOT NULL,
  dollars_whole REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS part (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL, tool TEXT NOT NULL, file TEXT NOT NULL,
  blocks INTEGER NOT NULL, entered INTEGER NOT NULL, sent_now INTEGER NOT NULL, whole_now INTEGER NOT NULL,
  sent INTEGER NOT NULL, whole INTEGER NOT NULL, since INTEGER NOT NULL, UNIQUE (session, kind, tool, file)
);
CREATE TABLE IF NOT EXISTS tally (
  axis TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL, blocks INTEGER NOT NULL, entered INTEGER NOT NULL,
  sent INTEGER NOT NULL, whole INTEGER NOT NULL, PRIMARY KEY (axis, name, day)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS block (
  session INTEGER NOT NULL, key INTEGER NOT NULL, part INTEGER NOT NULL, whole INTEGER NOT NULL,
  PRIMARY KEY (session, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS malformed (
  upstream TEXT NOT NULL, model TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL, last REAL NOT NULL,
  PRIMARY KEY (upstream, model, reason)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quota (
  account TEXT NOT NULL, model TEXT NOT NULL, upstream TEXT NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL,
  tokens_left INTEGER NOT NULL, reset REAL NOT NULL, PRIMARY KEY (account, model)
) WITHOUT ROWID
""",
    "ALTER TABLE quota ADD COLUMN input_only INTEGER NOT NULL DEFAULT 0",
    ";".join(
        [
            f"ALTER TABLE {table} ADD COLUMN {column} NOT NULL DEFAULT 0"
            for table in ("session", "turn", "hour")
            for column in ("long INTEGER", "output_dollars REAL", "unpriced INTEGER", "estimated INTEGER")
        ]
        + [
            "ALTER TABLE session ADD COLUMN standing BLOB NOT NULL DEFAULT ''",
            "ALTER TABLE session DROP COLUMN last_whole",
        ]
    ),
    "ALTER TABLE session ADD COLUMN family TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE session ADD COLUMN project TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN fingerprint BLOB NOT NULL DEFAULT '';"
    "ALTER TABLE turn ADD COLUMN evidence BLOB NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN person TEXT NOT NULL DEFAULT ''",
)


def figures_file(place: StorePlace) -> StoreDatabase:
    """The file, created for its owner only when it is not there; or a team's figures."""
    return open_store(place, _STEPS, durable=False)


def block_number(key: str) -> int:
    """A block's key in eight bytes."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def keys(found: Iterable[str]) -> dict[int, str]:
    """Keys by the number under which their blocks are stored."""
    result: dict[int, str] = {}
    for key in found:
        result[block_number(key)] = key
    return result
