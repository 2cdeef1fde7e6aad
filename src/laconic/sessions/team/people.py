"""Delete what is kept about a person: keys, grants, budgets and names. What the team spent stays, without a name."""

from __future__ import annotations

import time
from typing import Final

import msgspec

from laconic.sessions.store import StoreConnection, StoreDatabase
from laconic.sessions.team.audit import AuditEntry, write_audit

NOBODY: Final = "(deleted)"
_MERGE: Final = """INSERT INTO spending
  SELECT day, ?, team, project, client, model, SUM(requests), SUM(prompt), SUM(output), SUM(dollars), SUM(dollars_whole)
  FROM spending WHERE person=? GROUP BY day, team, project, client, model
  ON CONFLICT (day, person, team, project, client, model) DO UPDATE SET
  requests=spending.requests+excluded.requests, prompt=spending.prompt+excluded.prompt,
  output=spending.output+excluded.output, dollars=spending.dollars+excluded.dollars,
  dollars_whole=spending.dollars_whole+excluded.dollars_whole"""


class DeletedPerson(msgspec.Struct, frozen=True):
    """What went."""

    keys: tuple[str, ...]  # their ids
    grants: int
    figures: int  # rows of spending that have no name any more


def delete_person(file: StoreDatabase, name: str, actor: str, now: float | None = None) -> DeletedPerson:
    """In one transaction. Keys end at once; requests that run with them are charged to nobody."""

    def work(base: StoreConnection) -> DeletedPerson:
        keys = base.execute("SELECT id, purse FROM team_key WHERE owner=? ORDER BY id", (name,)).fetchall()
        for id, purse in keys:
            for table in ("spent", "reserved"):
                base.execute(f"DELETE FROM {table} WHERE purse=?", (purse,))
            base.execute("DELETE FROM asked WHERE id=?", (id,))
        base.execute("DELETE FROM team_key WHERE owner=?", (name,))
        grants = base.execute("DELETE FROM repository_grant WHERE subject=?", (f"owner {name}",)).rowcount
        base.execute(_MERGE, (NOBODY, name))
        figures = base.execute("DELETE FROM spending WHERE person=?", (name,)).rowcount
        _rename_in_audit(base, name)
        entry = AuditEntry(
            at=now or time.time(), actor=actor, action="delete person", subject=NOBODY, detail=f"{len(keys)} keys"
        )
        write_audit(base, entry)
        return DeletedPerson(tuple(str(id) for id, _ in keys), grants, figures)

    return file.erase(work)


def _rename_in_audit(base: StoreConnection, name: str) -> None:
    """What was done stays on record; whom it was done to, or by, does not."""
    for id, actor, subject, detail in base.execute("SELECT id, actor, subject, detail FROM audit").fetchall():
        kept = []
        for text in (actor, subject, detail):
            kept.append(_without(text, name))
        if kept != [actor, subject, detail]:
            base.execute("UPDATE audit SET actor=?, subject=?, detail=? WHERE id=?", (*kept, id))


def _without(text: str, name: str) -> str:
    if text in {name, f"{name} by login", f"owner {name}"}:
        return text.replace(name, NOBODY)
    return text.replace(f"owner {name},", f"owner {NOBODY},")
