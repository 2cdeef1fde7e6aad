"""Write one turn into the tables: its row, its session, its hour, its parts, and what the provider said."""

from __future__ import annotations

from functools import cache
from typing import Final

from laconic.sessions.store import StoreConnection
from laconic.sessions.turn_parts import add_intake, add_to_tallies, subtract_cuts
from laconic.sessions.turn_record import AnswerCost, TurnRecord
from laconic.sessions.turn_tables import DAY, HOUR, SUMS

_HOUR_SUMS: Final = ", ".join(f"{name}=hour.{name}+excluded.{name}" for name in ("turns", *SUMS))
_SESSION_SUMS: Final = ", ".join(f"{name}={name}+:{name}" for name in (*SUMS, "turns", "errors", "decisions"))
_UPDATE_SESSION: Final = (
    f"UPDATE session SET last=max(last, :at), {_SESSION_SUMS},"
    " model=:model, fixed=:fixed, title=CASE WHEN title='' THEN :title ELSE title END,"
    " project=CASE WHEN project='' THEN :project ELSE project END,"
    " standing=CASE WHEN length(:standing)=0 THEN standing ELSE :standing END,"
    " fingerprint=CASE WHEN length(:fingerprint)=0 THEN fingerprint ELSE :fingerprint END WHERE id=:id"
)


def write_turn(base: StoreConnection, turn: TurnRecord) -> None:
    session, number, fixed = _update_session(base, turn)
    cost = turn.cost or AnswerCost()
    depth = turn.added_content.turn if turn.added_content else 0
    sums = {}
    for name in SUMS:
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
    base.execute(_insert("turn", tuple(row)), row)
    hour = {"hour": int(turn.at) // HOUR * HOUR, "turns": 1, **sums}
    base.execute(f"{_insert('hour', tuple(hour))} ON CONFLICT(hour) DO UPDATE SET {_HOUR_SUMS}", hour)
    if turn.added_content is not None:
        entered = add_intake(base, session, number - 1, turn.added_content, fixed)
    else:
        entered = ()
    subtract_cuts(base, session, number - 1, turn.cuts)
    add_to_tallies(base, session, int(turn.at) // DAY * DAY, entered)
    _write_notes(base, turn)


@cache
def _insert(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _update_session(base: StoreConnection, turn: TurnRecord) -> tuple[int, int, int]:
    """The session's row brought up to date: its id, the number of this turn, and the fixed part so far."""
    who, cost = turn.who, turn.cost or AnswerCost()
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
            "person": who.person,
            "began": turn.at,
            "last": turn.at,
        }
        (made,) = base.execute(f"{_insert('session', tuple(row))} RETURNING id", row).fetchone()
        row = (made, 0, 0)
    id, turns, fixed = row
    title, project = turn.who.title, turn.who.project
    if turn.added_content is not None:
        title, project = turn.added_content.title, turn.added_content.project
    added = {}
    for name in SUMS:
        added[name] = getattr(cost, name)
    added |= {"turns": 1, "errors": turn.status >= 400, "decisions": turn.decisions}
    base.execute(
        _UPDATE_SESSION,
        {
            **added,
            "at": turn.at,
            "model": who.model,
            "fixed": turn.added_content.fixed if turn.added_content else fixed,
            "title": title,
            "project": project,
            "standing": cost.standing,
            "fingerprint": turn.fingerprint,
            "id": id,
        },
    )
    return id, turns + 1, fixed


def _write_notes(base: StoreConnection, turn: TurnRecord) -> None:
    who = turn.who
    base.executemany(
        "INSERT INTO malformed VALUES (?,?,?,1,?)"
        " ON CONFLICT (upstream, model, reason) DO UPDATE SET count=malformed.count+1, last=excluded.last",
        [(who.upstream, who.model, reason, turn.at) for reason in turn.malformed],
    )
    if turn.allowance is not None:
        said = turn.allowance
        base.execute(
            "INSERT INTO quota VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (account, model)"
            " DO UPDATE SET upstream=excluded.upstream,"
            " at=excluded.at, tokens=excluded.tokens, tokens_left=excluded.tokens_left, reset=excluded.reset,"
            " input_only=excluded.input_only",
            (
                *(who.account, who.model, who.upstream, turn.at),
                *(said.tokens, said.left, turn.at + said.reset, said.input_only),
            ),
        )
