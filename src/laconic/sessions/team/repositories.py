"""The repositories of an organisation, which commit of each is published, and whose keys may read it.

A grant names a person, a team or everybody with a key, and repositories by a pattern. Nothing else gives a right.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal

import msgspec

from laconic.errors import UnknownName, UsageError
from laconic.sessions.store import StoreConnection, StoreDatabase
from laconic.sessions.team.audit import AuditEntry, write_audit
from laconic.sessions.team.keys import TeamKey

EVERYBODY: Final = "everybody"
Stage = Literal["fetched", "writing", "published"]
_COLUMNS: Final = "name, url, origin, branch, added, family, fetched, writing, published, at, trouble"
_NAME: Final = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*){0,5}")
_ADDRESS: Final = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+|/\S+")
_BRANCH: Final = re.compile(r"(?:[\w][\w./-]*)?")
_LONGEST: Final = 200  # characters of a name


class TeamRepository(msgspec.Struct, frozen=True):
    """One repository. Commits are written as git does."""

    name: str
    url: str
    origin: str  # the address without scheme and login: how a push names it
    branch: str = ""  # empty: what the remote calls its default
    added: float = 0.0
    family: str = ""  # of forks, which share one index
    fetched: str = ""  # the newest commit that a worker has
    writing: str = ""  # a commit that a worker has begun to write out
    published: str = ""  # the commit that questions are answered about
    at: float = 0.0  # since when
    trouble: str = ""  # why the last push could not be taken in


class RepositoryGrant(msgspec.Struct, frozen=True):
    """Who may read which repositories."""

    subject: str  # `owner NAME`, `team NAME` or `everybody`
    pattern: str

    def covers(self, key: TeamKey, name: str) -> bool:
        subjects = {EVERYBODY, f"owner {key.owner}"}
        if key.team:
            subjects.add(f"team {key.team}")
        return self.subject in subjects and fnmatchcase(name, self.pattern)


class Repositories:
    """In the team's store."""

    def __init__(self, file: StoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now

    def add(self, name: str, url: str, origin: str, actor: str, branch: str = "") -> TeamRepository:
        """A repository that workers are to fetch; an address that is known by this name is replaced."""
        _check(name, url, branch)
        wanted = TeamRepository(name=name, url=url, origin=origin, branch=branch, added=self._now())
        query = f"""INSERT INTO repository ({_COLUMNS}) VALUES (?,?,?,?,?,'','','','',0,'')
            ON CONFLICT (name) DO UPDATE SET url=excluded.url, origin=excluded.origin, branch=excluded.branch"""

        def work(base: StoreConnection) -> None:
            base.execute(query, (name, url, origin, branch, wanted.added))
            self._log(base, actor, "add repository", name, f"from {origin}")

        self._file.write(work)
        return wanted

    def remove(self, name: str, actor: str) -> None:
        def work(base: StoreConnection) -> int:
            self._log(base, actor, "remove repository", name, "")
            return base.execute("DELETE FROM repository WHERE name=?", (name,)).rowcount

        if not self._file.write(work):
            raise UnknownName("repository", name, fix="See `laconic team repository list`.")

    def list(self) -> Sequence[TeamRepository]:
        """All, those that were added first first."""
        query = f"SELECT {_COLUMNS} FROM repository ORDER BY added, name"
        rows = self._file.read(lambda base: base.execute(query).fetchall())
        return [_read(row) for row in rows]

    def find(self, name: str) -> TeamRepository | None:
        query = f"SELECT {_COLUMNS} FROM repository WHERE name=?"
        row = self._file.read(lambda base: base.execute(query, (name,)).fetchone())
        return None if row is None else _read(row)

    def find_origin(self, origin: str) -> Sequence[TeamRepository]:
        """The repositories at an address."""
        query = f"SELECT {_COLUMNS} FROM repository WHERE origin=?"
        rows = self._file.read(lambda base: base.execute(query, (origin,)).fetchall())
        return [_read(row) for row in rows]

    def note_family(self, name: str, family: str) -> None:
        self._file.write(lambda base: base.execute("UPDATE repository SET family=? WHERE name=?", (family, name)))

    def note(self, name: str, stage: Stage, commit: str) -> None:
        """How far a worker is with a commit."""
        values: tuple[str | float, ...] = (commit, name)
        query = f"UPDATE repository SET {stage}=? WHERE name=?"
        if stage == "published":
            values = (commit, self._now(), name)
            query = "UPDATE repository SET published=?, writing='', at=?, trouble='' WHERE name=?"
        self._file.write(lambda base: base.execute(query, values))

    def note_trouble(self, name: str, trouble: str) -> None:
        query = "UPDATE repository SET trouble=? WHERE name=?"
        self._file.write(lambda base: base.execute(query, (trouble[:500], name)))

    def grant(self, subject: str, pattern: str, actor: str) -> None:
        """Let somebody read repositories."""
        _check_grant(subject, pattern)

        def work(base: StoreConnection) -> None:
            base.execute("INSERT INTO repository_grant VALUES (?,?) ON CONFLICT DO NOTHING", (subject, pattern))
            self._log(base, actor, "grant", subject, pattern)

        self._file.write(work)

    def withdraw(self, subject: str, pattern: str, actor: str) -> None:
        """Take a grant back."""

        def work(base: StoreConnection) -> int:
            self._log(base, actor, "withdraw grant", subject, pattern)
            query = "DELETE FROM repository_grant WHERE subject=? AND pattern=?"
            return base.execute(query, (subject, pattern)).rowcount

        if not self._file.write(work):
            raise UnknownName("grant", f"{subject}: {pattern}", fix="See `laconic team grant list`.")

    def grants(self) -> Sequence[RepositoryGrant]:
        query = "SELECT subject, pattern FROM repository_grant ORDER BY subject, pattern"
        rows = self._file.read(lambda base: base.execute(query).fetchall())
        return [RepositoryGrant(*row) for row in rows]

    def _log(self, base: StoreConnection, actor: str, action: str, subject: str, detail: str) -> None:
        write_audit(base, AuditEntry(at=self._now(), actor=actor, action=action, subject=subject, detail=detail))


def choose_readable(
    repositories: Sequence[TeamRepository], grants: Sequence[RepositoryGrant], key: TeamKey
) -> list[TeamRepository]:
    """The repositories that a key may read."""
    readable = []
    for repository in repositories:
        if any(grant.covers(key, repository.name) for grant in grants):
            readable.append(repository)
    return readable


def name_subject(owner: str, team: str) -> str:
    """Whom a grant is for, from what a person wrote."""
    if owner and team:
        raise UsageError("A grant is for a person or for a team.", "Name one of them, or neither: everybody.")
    if owner:
        return f"owner {owner}"
    if team:
        return f"team {team}"
    return EVERYBODY


def _read(row: Sequence[object]) -> TeamRepository:
    return msgspec.convert(dict(zip(_COLUMNS.split(", "), row, strict=True)), TeamRepository)


def _check(name: str, url: str, branch: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST or ".." in name:
        raise UsageError(f"{name!r} is not a name for a repository.", "Write it as its host does: acme/billing.")
    if not _ADDRESS.fullmatch(url):
        raise UsageError(
            f"{url!r} is not an address of git.", "Write https://, ssh:// or file://, or user@host:path."
        )
    if not _BRANCH.fullmatch(branch) or ".." in branch:
        raise UsageError(f"{branch!r} is not a branch.", "Name one as `git branch` does, or none for the default.")


def _check_grant(subject: str, pattern: str) -> None:
    for text in (subject, pattern):
        if not text.isprintable() or not 0 < len(text) <= _LONGEST:
            raise UsageError("A grant is too long, or not printable.", "Write a plain name and a pattern: 'acme/*'.")
