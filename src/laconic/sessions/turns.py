"""The record of what conversations cost, turn by turn: one SQLite file for the owner only, written by the gateway.

It holds numbers and names (models, tools, files, how a user began), no other content and no keys. What the rows add
up to is read elsewhere.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol

import msgspec

from laconic.config import Settings
from laconic.records import Entered, Intake
from laconic.sessions.database import Database
from laconic.wire.limits import RateLimits

FILE: Final = "turns.sqlite"  # in the cache folder
HOUR: Final = 3600
DAY: Final = 24 * HOUR
AXES: Final = ("kind", "tool", "file")  # by which parts of all sessions are added up
_SESSIONS: Final = 5_000  # sessions that are kept
_PRUNED: Final = 100  # turns between two looks at how many there are
_FORGOTTEN: Final = 50  # old sessions that one look removes at most
DAYS: Final = 365  # after which a session that nobody used is forgotten
_MINUTE: Final = 60.0  # seconds after which a quota is full again when nobody says
_DAYS: Final = 120  # for which tallies of files are kept apart
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
)
_SUMS: Final = (
    *("input", "cache_read", "cache_write", "output", "whole", "dollars", "dollars_whole"),
    *("long", "output_dollars", "unpriced", "estimated"),
)


class Who(msgspec.Struct, frozen=True):
    """Whose turn it is: hashes, and names."""

    session: str
    account: str = ""
    upstream: str = ""
    model: str = ""
    format: str = ""
    client: str = ""  # as the client names itself
    family: str = ""  # shared by a session and what its client asks on the side


class Account(msgspec.Struct, frozen=True):
    """A provider and a key, by their hash, and the sessions that were paid with it."""

    account: str
    upstream: str
    sessions: int
    began: float
    last: float


class Cost(msgspec.Struct, frozen=True):
    """What an answer cost, and what it would have cost with the history as it came."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    whole: float = 0.0  # prompt tokens without us
    dollars: float = 0.0  # for the prompt and the answer
    dollars_whole: float = 0.0
    long: int = 0  # of what was written to the cache, tokens that it keeps for an hour
    output_dollars: float = 0.0  # of the dollars, those for the answer
    unpriced: int = 0  # tokens whose price is not known
    estimated: bool = False  # the provider did not report all of it
    standing: bytes = b""  # what the next turn of the session is accounted against


class Cut(msgspec.Struct, frozen=True):
    """A block became smaller after it had entered."""

    key: str
    tokens: int


class Allowance(msgspec.Struct, frozen=True):
    """What a provider says is left of a minute's tokens."""

    tokens: int  # of the limit; 0: not said
    left: int
    reset: float  # seconds
    input_only: bool = False  # output has a limit of its own

    @classmethod
    def of(cls, limits: RateLimits | None) -> Allowance | None:
        """What headers say; None where they say nothing about tokens."""
        if limits is None or limits.tokens_left is None:
            return None
        reset = limits.tokens_reset or _MINUTE
        return cls(limits.tokens or 0, limits.tokens_left, reset, limits.input_only)


class Kept(Protocol):
    """What was done to a request."""

    @property
    def tokens(self) -> int: ...
    @property
    def saved(self) -> int: ...
    @property
    def made(self) -> Sized: ...
    @property
    def mode(self) -> str: ...
    @property
    def rung(self) -> str: ...
    @property
    def intake(self) -> Intake | None: ...
    @property
    def cuts(self) -> Iterable[tuple[str, int]]: ...


class TurnRecord(msgspec.Struct, frozen=True):
    """One request and its answer."""

    who: Who
    at: float
    status: int = 0  # 0: the client left, or nobody answered
    milliseconds: int = 0
    context: int = 0  # tokens as sent, by our own count
    cost: Cost | None = None  # None: the answer did not say
    decisions: int = 0
    saved: int = 0  # tokens that they took out
    mode: str = ""
    rung: str = ""
    intake: Intake | None = None
    cuts: tuple[Cut, ...] = ()
    malformed: tuple[str, ...] = ()  # reasons
    allowance: Allowance | None = None
    evidence: bytes = b""  # what it changed of the request before
    fingerprint: bytes = b""  # what the next one is compared with

    @classmethod
    def of(
        cls,
        who: Who,
        kept: Kept,
        *,
        status: int,
        seconds: float,
        cost: Cost | None,
        malformed: Sequence[str],
        limits: RateLimits | None,
    ) -> TurnRecord:
        """A turn that ended now."""
        return cls(
            *(who, time.time(), status, round(1000 * seconds), kept.tokens, cost),
            *(len(kept.made), kept.saved, kept.mode, kept.rung, kept.intake),
            cuts=tuple(Cut(key, tokens) for key, tokens in kept.cuts),
            malformed=tuple(malformed),
            allowance=Allowance.of(limits),
        )


def figures_file(path: Path) -> Database:
    """The file, created for its owner only when it is not there."""
    return Database(path, _STEPS, durable=False)


class Turns:
    """Writes. Several threads and processes may write to one file.

    Sessions that nobody used for `days` are forgotten, and beyond `kept` those that nobody used for longest.
    """

    def __init__(self, path: Path, kept: int = _SESSIONS, days: float = DAYS) -> None:
        self._file = figures_file(path)
        self._kept = kept
        self._days = days
        self._until_pruned = 1

    @classmethod
    def of(cls, settings: Settings) -> Turns:
        """The user's record."""
        return cls(settings.cache_dir() / FILE, days=settings.number("turns.days"))

    @property
    def faults(self) -> Counter[str]:
        """How often the file could not be used, by what was wrong."""
        return self._file.faults

    def close(self) -> None:
        self._file.close()

    def titles(self) -> dict[str, str]:
        """How the user began each session, by its name."""
        query = "SELECT name, title FROM session WHERE title<>''"
        return dict(self._file.read(lambda base: base.execute(query).fetchall()) or ())

    def standing(self, session: str) -> bytes:
        """What the last answered turn of a session left behind for the account of the next; empty: nothing."""
        query = "SELECT standing FROM session WHERE name=?"
        row = self._file.read(lambda base: base.execute(query, (session,)).fetchone())
        if row and row[0]:
            return bytes(row[0])
        return b""

    def fingerprint(self, session: str) -> bytes:
        """What the next request of a session is compared with; empty: nothing."""
        query = "SELECT fingerprint FROM session WHERE name=?"
        row = self._file.read(lambda base: base.execute(query, (session,)).fetchone())
        if row and row[0]:
            return bytes(row[0])
        return b""

    def add(self, *turns: TurnRecord) -> None:
        """Write turns down, all or none."""

        def work(base: sqlite3.Connection) -> None:
            cursor = base.cursor()
            for turn in turns:
                _write(cursor, turn)
            self._prune(cursor)

        self._file.write(work)

    def accounts(self) -> list[Account]:
        """Whose sessions are recorded, those used last first."""
        query = (
            "SELECT account, min(upstream), count(*), min(began), max(last) FROM session"
            " GROUP BY account ORDER BY max(last) DESC"
        )
        return [Account(*row) for row in self._file.read(lambda base: base.execute(query).fetchall())]

    def sessions(self, account: str | None = None, before: float | None = None) -> list[str]:
        """The names of sessions: of one account, or those that nobody used since a moment."""
        query = "SELECT name FROM session WHERE last < ? AND (account=? OR ?) ORDER BY last"
        values = (float("inf") if before is None else before, account, account is None)
        return [name for (name,) in self._file.read(lambda base: base.execute(query, values).fetchall())]

    def remove(self, sessions: Iterable[str]) -> int:
        """Forget these sessions, so that nothing of them is left in the file, also no name of a file that only they used.

        Sums over all sessions stay.

        Returns how many were there.
        """
        names = [(name,) for name in sessions]

        def work(base: sqlite3.Connection) -> int:
            cursor = base.cursor()
            query = "SELECT id FROM session WHERE name=?"
            found = []
            for name in names:
                for row in cursor.execute(query, name).fetchall():
                    found.append(row)
            query = "SELECT DISTINCT file FROM part WHERE session=?"
            files = []
            for one in found:
                for (file,) in cursor.execute(query, one).fetchall():
                    files.append(file)
            _forget(cursor, found)
            cursor.execute(
                "DELETE FROM tally WHERE axis='file' AND name IN (SELECT value FROM json_each(?))"
                " AND name NOT IN (SELECT file FROM part)",
                (msgspec.json.encode(files).decode(),),
            )
            return len(found)

        return self._file.erase(work)

    def clear(self) -> int:
        """Forget everything, sums too; returns how many sessions there were."""

        def work(base: sqlite3.Connection) -> int:
            (count,) = base.execute("SELECT count(*) FROM session").fetchone()
            for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
                base.execute(f"DELETE FROM {table}")
            return int(count)

        return self._file.erase(work)

    def _prune(self, base: sqlite3.Cursor) -> None:
        """Every now and then the sessions that nobody used for longest are forgotten; their hours stay."""
        self._until_pruned -= 1
        if self._until_pruned > 0:
            return
        self._until_pruned = _PRUNED
        oldest = base.execute("SELECT id FROM session ORDER BY last DESC LIMIT -1 OFFSET ?", (self._kept,)).fetchall()
        (newest,) = base.execute("SELECT max(last) FROM session").fetchone()
        query = "SELECT id FROM session WHERE last < ? ORDER BY last LIMIT ?"
        oldest += base.execute(query, (newest - self._days * DAY, _FORGOTTEN)).fetchall()
        _fold(base)
        _forget(base, oldest)


def _forget(base: sqlite3.Cursor, sessions: Sequence[tuple[int]]) -> None:
    for table, column in (("turn", "session"), ("part", "session"), ("block", "session"), ("session", "id")):
        base.executemany(f"DELETE FROM {table} WHERE {column}=?", sessions)


def _write(base: sqlite3.Cursor, turn: TurnRecord) -> None:
    session, number, fixed = _session(base, turn)
    cost = turn.cost or Cost()
    depth = turn.intake.turn if turn.intake else 0
    sums = {}
    for name in _SUMS:
        sums[name] = getattr(cost, name)
    row = {
        "session": session,
        "number": number,
        "at": turn.at,
        "turn": depth,
        "status": turn.status,
        "milliseconds": turn.milliseconds,
        "context": turn.context,
        "decisions": turn.decisions,
        "saved": turn.saved,
        "mode": turn.mode,
        "rung": turn.rung,
        "evidence": turn.evidence,
        **sums,
    }
    base.execute(_insert("turn", row), row)
    hour = {"hour": int(turn.at) // HOUR * HOUR, "turns": 1, **sums}
    added = ", ".join(f"{name}={name}+excluded.{name}" for name in ("turns", *_SUMS))
    base.execute(f"{_insert('hour', hour)} ON CONFLICT(hour) DO UPDATE SET {added}", hour)
    if turn.intake is not None:
        entered = _take_in(base, session, number - 1, turn.intake, fixed)
    else:
        entered = ()
    _cut(base, session, number - 1, turn.cuts)
    _tally(base, session, int(turn.at) // DAY * DAY, entered)
    _notes(base, turn)


def _insert(table: str, row: Iterable[str]) -> str:
    names = list(row)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _session(base: sqlite3.Cursor, turn: TurnRecord) -> tuple[int, int, int]:
    """The session's row brought up to date: its id, the number of this turn, and the fixed part so far."""
    who, cost = turn.who, turn.cost or Cost()
    row = base.execute("SELECT id, turns, fixed FROM session WHERE name=?", (who.session,)).fetchone()
    if row is None:
        row = {
            "name": who.session,
            "title": "",
            "client": who.client,
            "account": who.account,
            "upstream": who.upstream,
            "model": who.model,
            "format": who.format,
            "family": who.family,
            "began": turn.at,
            "last": turn.at,
        }
        base.execute(_insert("session", row), row)
        row = (base.lastrowid, 0, 0)
    id, turns, fixed = row
    title = turn.intake.title if turn.intake else ""
    project = turn.intake.project if turn.intake else ""
    added = {}
    for name in _SUMS:
        added[name] = getattr(cost, name)
    added |= {"turns": 1, "errors": turn.status >= 400, "decisions": turn.decisions}
    base.execute(
        f"UPDATE session SET last=max(last, :at), {', '.join(f'{name}={name}+:{name}' for name in added)},"
        " model=:model, fixed=:fixed, title=CASE WHEN title='' THEN :title ELSE title END,"
        " project=CASE WHEN project='' THEN :project ELSE project END,"
        " standing=CASE WHEN :standing='' THEN standing ELSE :standing END,"
        " fingerprint=CASE WHEN :fingerprint='' THEN fingerprint ELSE :fingerprint END WHERE id=:id",
        {
            **added,
            "at": turn.at,
            "model": who.model,
            "fixed": turn.intake.fixed if turn.intake else fixed,
            "title": title,
            "project": project,
            "standing": cost.standing or "",
            "fingerprint": turn.fingerprint or "",
            "id": id,
        },
    )
    return id, turns + 1, fixed


# A part is all blocks of a session with the same kind, tool and file. What it cost over all turns is its size times
# the turns for which it had that size: the product is added up only when the size changes (`since`).


def _take_in(base: sqlite3.Cursor, session: int, before: int, intake: Intake, fixed: int) -> Sequence[Entered]:
    """Add what a request brought; returns what is new of it."""
    new = []
    if intake.anew:
        base.execute(
            "UPDATE part SET sent=sent+sent_now*(?-since), whole=whole+whole_now*(?-since), since=?, sent_now=0,"
            " whole_now=0 WHERE session=?",
            (before, before, before, session),
        )
        fixed = 0
    change = intake.fixed - fixed
    if change:
        part = Entered("", "instructions")
        _grow(base, session, before, part, blocks=0, entered=max(0, change), sent=change, whole=change)
        new.append(Entered("", "instructions", whole=max(0, change)))
    for block in intake.entered:
        key = _number(block.key)
        known = base.execute("SELECT whole FROM block WHERE session=? AND key=?", (session, key)).fetchone()
        if known is None:
            size = block.tokens
            part_id = _grow(base, session, before, block, blocks=1, entered=block.whole, sent=size, whole=block.whole)
            base.execute("INSERT INTO block VALUES (?,?,?,?)", (session, key, part_id, block.whole))
            new.append(block)
        elif intake.anew:
            _grow(base, session, before, block, blocks=0, entered=0, sent=block.tokens, whole=known[0])
    return new


def _grow(
    base: sqlite3.Cursor,
    session: int,
    before: int,
    part: Entered,
    *,
    blocks: int,
    entered: int,
    sent: int,
    whole: int,
) -> int:
    (id,) = base.execute(
        "INSERT INTO part VALUES (NULL,?,?,?,?,?,?,?,?,0,0,?) ON CONFLICT(session, kind, tool, file) DO UPDATE SET"
        " sent=sent+sent_now*(excluded.since-since), whole=whole+whole_now*(excluded.since-since),"
        " since=excluded.since, blocks=blocks+excluded.blocks, entered=entered+excluded.entered,"
        " sent_now=max(0, sent_now+excluded.sent_now), whole_now=max(0, whole_now+excluded.whole_now) RETURNING id",
        (session, *_names(part), blocks, entered, sent, whole, before),
    ).fetchone()
    return int(id)


def _cut(base: sqlite3.Cursor, session: int, before: int, cuts: Sequence[Cut]) -> None:
    for cut in cuts:
        base.execute(
            "UPDATE part SET sent=sent+sent_now*(?-since), whole=whole+whole_now*(?-since), since=?,"
            " sent_now=max(0, sent_now-?) WHERE id=(SELECT part FROM block WHERE session=? AND key=?)",
            (before, before, before, cut.tokens, session, _number(cut.key)),
        )


# Parts of all sessions together, by day: each turn adds the sizes that the session's parts have in it.


def _tally(base: sqlite3.Cursor, session: int, day: int, entered: Sequence[Entered]) -> None:
    conflict = (
        "ON CONFLICT(axis, name, day) DO UPDATE SET blocks=blocks+excluded.blocks, entered=entered+excluded.entered,"
        " sent=sent+excluded.sent, whole=whole+excluded.whole"
    )
    for axis in AXES:
        base.execute(
            f"INSERT INTO tally SELECT '{axis}', {axis}, ?, 0, 0, sum(sent_now), sum(whole_now) FROM part"
            f" WHERE session=? AND {axis}<>'' AND whole_now>0 GROUP BY {axis} {conflict}",
            (day, session),
        )
        rows = [
            (axis, name, day, block.key != "", block.whole)
            for block in entered
            if (name := _names(block)[AXES.index(axis)])
        ]
        base.executemany(f"INSERT INTO tally VALUES (?,?,?,?,?,0,0) {conflict}", rows)


def _fold(base: sqlite3.Cursor) -> None:
    """Files are many: what they cost long ago is kept as one sum each."""
    row = base.execute("SELECT max(hour) FROM hour").fetchone()
    old = (int(row[0] or 0) // DAY - _DAYS) * DAY
    base.execute(
        "INSERT INTO tally SELECT axis, name, 0, sum(blocks), sum(entered), sum(sent), sum(whole) FROM tally"
        " WHERE axis='file' AND day BETWEEN 1 AND ? GROUP BY name ON CONFLICT(axis, name, day) DO UPDATE SET"
        " blocks=blocks+excluded.blocks, entered=entered+excluded.entered, sent=sent+excluded.sent,"
        " whole=whole+excluded.whole",
        (old,),
    )
    base.execute("DELETE FROM tally WHERE axis='file' AND day BETWEEN 1 AND ?", (old,))


def _names(block: Entered) -> tuple[str, str, str]:
    """Kind, tool and file as they are stored."""
    return block.kind, block.tool[:100], block.file[:200]


def _notes(base: sqlite3.Cursor, turn: TurnRecord) -> None:
    who = turn.who
    base.executemany(
        "INSERT INTO malformed VALUES (?,?,?,1,?) ON CONFLICT DO UPDATE SET count=count+1, last=excluded.last",
        [(who.upstream, who.model, reason, turn.at) for reason in turn.malformed],
    )
    if turn.allowance is not None:
        said = turn.allowance
        base.execute(
            "INSERT INTO quota VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET upstream=excluded.upstream,"
            " at=excluded.at, tokens=excluded.tokens, tokens_left=excluded.tokens_left, reset=excluded.reset,"
            " input_only=excluded.input_only",
            (
                *(who.account, who.model, who.upstream, turn.at),
                *(said.tokens, said.left, turn.at + said.reset, said.input_only),
            ),
        )


def _number(key: str) -> int:
    """A block's key in eight bytes."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def keys(found: Iterable[str]) -> dict[int, str]:
    """Keys by the number under which their blocks are stored."""
    return {_number(key): key for key in found}
