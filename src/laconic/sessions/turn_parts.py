"""The tokens of each part of a session (kind, tool and file), turn by turn, and of all sessions by day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.records import AddedBlock, AddedContent
from laconic.sessions.store import StoreConnection
from laconic.sessions.turn_record import ShortenedBlock
from laconic.sessions.turn_tables import AXES, DAY, block_number

_ASKED: Final = 500  # keys in one question
_DAYS: Final = 120  # for which tallies of files are kept apart

_GROWN: Final = (
    "INSERT INTO part (session, kind, tool, file, blocks, entered, sent_now, whole_now, sent, whole, since)"
    " VALUES (?,?,?,?,?,?,?,?,0,0,?) ON CONFLICT(session, kind, tool, file) DO UPDATE SET"
    " sent=part.sent+part.sent_now*(excluded.since-part.since),"
    " whole=part.whole+part.whole_now*(excluded.since-part.since), since=excluded.since,"
    " blocks=part.blocks+excluded.blocks, entered=part.entered+excluded.entered,"
    " sent_now=max(0, part.sent_now+excluded.sent_now), whole_now=max(0, part.whole_now+excluded.whole_now) RETURNING id"
)

# A part is all blocks of a session with the same kind, tool and file. What it cost over all turns is its size times
# the turns for which it had that size: the product is added up only when the size changes (`since`).


def add_intake(
    base: StoreConnection, session: int, before: int, added_content: AddedContent, fixed: int
) -> Sequence[AddedBlock]:
    """Add what a request brought; returns what is new of it."""
    new = []
    if added_content.anew:
        base.execute(
            "UPDATE part SET sent=sent+sent_now*(?-since), whole=whole+whole_now*(?-since), since=?, sent_now=0,"
            " whole_now=0 WHERE session=?",
            (before, before, before, session),
        )
        fixed = 0
    change = added_content.fixed - fixed
    if change:
        part = AddedBlock("", "instructions")
        _grow(base, session, before, part, blocks=0, entered=max(0, change), sent=change, whole=change)
        new.append(AddedBlock("", "instructions", whole=max(0, change)))
    keys = [block_number(block.key) for block in added_content.entered]
    known = _read_known(base, session, keys)
    rows = []
    for key, block in zip(keys, added_content.entered, strict=True):
        if key not in known:
            size = block.tokens
            part_id = _grow(base, session, before, block, blocks=1, entered=block.whole, sent=size, whole=block.whole)
            rows.append((session, key, part_id, block.whole))
            known[key] = block.whole
            new.append(block)
        elif added_content.anew:
            _grow(base, session, before, block, blocks=0, entered=0, sent=block.tokens, whole=known[key])
    base.executemany("INSERT INTO block VALUES (?,?,?,?)", rows)
    return new


def _read_known(base: StoreConnection, session: int, keys: Sequence[int]) -> dict[int, int]:
    """The sizes of those blocks that the session has."""
    found: dict[int, int] = {}
    for start in range(0, len(keys), _ASKED):
        some = keys[start : start + _ASKED]
        query = f"SELECT key, whole FROM block WHERE session=? AND key IN ({','.join('?' * len(some))})"
        for key, whole in base.execute(query, (session, *some)).fetchall():
            found[int(key)] = int(whole)
    return found


def _grow(
    base: StoreConnection,
    session: int,
    before: int,
    part: AddedBlock,
    *,
    blocks: int,
    entered: int,
    sent: int,
    whole: int,
) -> int:
    (id,) = base.execute(
        _GROWN,
        (session, *_names(part), blocks, entered, sent, whole, before),
    ).fetchone()
    return int(id)


def subtract_cuts(base: StoreConnection, session: int, before: int, cuts: Sequence[ShortenedBlock]) -> None:
    for cut in cuts:
        base.execute(
            "UPDATE part SET sent=sent+sent_now*(?-since), whole=whole+whole_now*(?-since), since=?,"
            " sent_now=max(0, sent_now-?) WHERE id=(SELECT part FROM block WHERE session=? AND key=?)",
            (before, before, before, cut.tokens, session, block_number(cut.key)),
        )


# Parts of all sessions together, by day: each turn adds the sizes that the session's parts have in it.


def add_to_tallies(base: StoreConnection, session: int, day: int, entered: Sequence[AddedBlock]) -> None:
    conflict = (
        "ON CONFLICT(axis, name, day) DO UPDATE SET blocks=tally.blocks+excluded.blocks,"
        " entered=tally.entered+excluded.entered, sent=tally.sent+excluded.sent, whole=tally.whole+excluded.whole"
    )
    rows: dict[tuple[str, str], list[int]] = {}
    for axis in AXES:
        base.execute(
            f"INSERT INTO tally SELECT '{axis}', {axis}, ?, 0, 0, sum(sent_now), sum(whole_now) FROM part"
            f" WHERE session=? AND {axis}<>'' AND whole_now>0 GROUP BY {axis} {conflict}",
            (day, session),
        )
        for block in entered:
            if name := _names(block)[AXES.index(axis)]:
                row = rows.setdefault((axis, name), [0, 0])
                row[0] += block.key != ""
                row[1] += block.whole
    values = [(*names, day, *row) for names, row in rows.items()]
    base.executemany(f"INSERT INTO tally VALUES (?,?,?,?,?,0,0) {conflict}", values)


def fold_old_tallies(base: StoreConnection) -> None:
    """Files are many: what they cost long ago is kept as one sum each."""
    row = base.execute("SELECT max(hour) FROM hour").fetchone()
    old = (int(row[0] or 0) // DAY - _DAYS) * DAY
    base.execute(
        "INSERT INTO tally SELECT axis, name, 0, sum(blocks), sum(entered), sum(sent), sum(whole) FROM tally"
        " WHERE axis='file' AND day BETWEEN 1 AND ? GROUP BY axis, name ON CONFLICT(axis, name, day) DO UPDATE SET"
        " blocks=tally.blocks+excluded.blocks, entered=tally.entered+excluded.entered,"
        " sent=tally.sent+excluded.sent, whole=tally.whole+excluded.whole",
        (old,),
    )
    base.execute("DELETE FROM tally WHERE axis='file' AND day BETWEEN 1 AND ?", (old,))


def _names(block: AddedBlock) -> tuple[str, str, str]:
    """Kind, tool and file as they are stored."""
    return block.kind, block.tool[:100], block.file[:200]
