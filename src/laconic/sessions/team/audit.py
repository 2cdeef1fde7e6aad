"""Who did what to keys and people's data. Rows are only ever added."""

from __future__ import annotations

from typing import Final

import msgspec

from laconic.sessions.store import StoreConnection, StoreDatabase

_LONGEST: Final = 500  # characters of a detail
_MOST: Final = 10_000  # rows that one question gives


class AuditEntry(msgspec.Struct, frozen=True):
    """One act of administration."""

    at: float
    actor: str  # a key's owner, or the user of the machine on which a command ran
    action: str
    subject: str
    detail: str = ""


def write_audit(base: StoreConnection, entry: AuditEntry) -> None:
    """Within the transaction of the act itself: neither is there without the other."""
    base.execute(
        "INSERT INTO audit (at, actor, action, subject, detail) VALUES (?,?,?,?,?)",
        (entry.at, entry.actor, entry.action, entry.subject, entry.detail[:_LONGEST]),
    )


def read_audit(file: StoreDatabase, limit: int = 200) -> list[AuditEntry]:
    """The newest first."""
    query = "SELECT at, actor, action, subject, detail FROM audit ORDER BY id DESC LIMIT ?"
    rows = file.read(lambda base: base.execute(query, (min(limit, _MOST),)).fetchall())
    found = []
    for at, actor, action, subject, detail in rows:
        found.append(AuditEntry(at=at, actor=actor, action=action, subject=subject, detail=detail))
    return found
