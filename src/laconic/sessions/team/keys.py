"""Keys of a team: made once, shown once, kept as hashes.

A key is `lac-`, ten digits by which it is found, and 192 random bits. These need no slow hash: nobody can guess them.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from laconic.config import Settings
from laconic.errors import UnknownName, UsageError
from laconic.sessions.store import StoreConnection, StoreDatabase, StorePlace
from laconic.sessions.team.audit import AuditEntry, read_audit, write_audit
from laconic.sessions.team.tables import open_team, team_place

Role = Literal["developer", "lead", "admin"]
ROLES: Final[tuple[Role, ...]] = ("developer", "lead", "admin")
PERIODS: Final = ("day", "week", "month", "ever")
KEY: Final = re.compile(r"lac-([0-9a-f]{10})-[0-9a-f]{48}")
MARK: Final = "lac-"  # how every key begins
_COLUMNS: Final = "id, owner, team, role, models, purse, budget, period, rate, note, created, expires, revoked, hash"
_LONGEST: Final = 100  # characters of a name
_LONGEST_LIFE: Final = 36_500  # days of a key that expires
_DAY: Final = 86_400.0


class TeamKey(msgspec.Struct, frozen=True):
    """One key, without what would open anything."""

    id: str
    owner: str
    team: str = ""
    role: Role = "developer"
    models: str = ""  # patterns with commas; empty: all
    purse: str = ""  # what its requests are paid from: keys with the same one share a budget
    budget: float = 0.0  # dollars of a period; 0: no limit
    period: str = "month"
    rate: int = 0  # requests a minute; 0: no limit
    note: str = ""
    created: float = 0.0
    expires: float = 0.0  # 0: never
    revoked: float = 0.0  # 0: in force

    def is_open(self, now: float) -> bool:
        return not self.revoked and not (self.expires and now >= self.expires)

    def allows(self, model: str) -> bool:
        """Whether it may ask this model."""
        patterns = [word.strip() for word in self.models.split(",") if word.strip()]
        return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


class WantedKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an admin asks for, on a command line or over the API."""

    owner: str
    team: str = ""
    role: Role = "developer"
    models: str = ""
    budget: str = ""
    rate: int = 0
    days: float = 0.0  # after which it expires; 0: never
    note: str = ""

    def describe_key(self, now: float) -> TeamKey:
        """The record of that key, for `TeamKeys.create`."""
        dollars, period = parse_budget(self.budget)
        return TeamKey(
            id="",
            owner=self.owner,
            team=self.team,
            role=self.role,
            models=self.models,
            budget=dollars,
            period=period,
            rate=self.rate,
            note=self.note,
            expires=_expiry(self.days, now),
        )


class StoredKey(msgspec.Struct, frozen=True):
    """A key as it is found: with the hash of what a client has to show."""

    key: TeamKey
    hash: str

    def opens(self, shown: str) -> bool:
        """Whether this is the key that was shown; compared in constant time."""
        return hmac.compare_digest(hash_key(shown), self.hash)

    @property
    def viewer_pass(self) -> str:
        """What a browser keeps in place of the key: with it one sees pages, nothing else."""
        return hmac.new(self.hash.encode(), b"laconic team pages", sha256).hexdigest()

    def knows_pass(self, given: str) -> bool:
        """Whether a browser brings it; compared in constant time."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.viewer_pass.encode())


class TeamKeys:
    """The keys of one team."""

    def __init__(self, place: StorePlace, now: Callable[[], float] = time.time) -> None:
        self.file: StoreDatabase = open_team(place)
        self._now = now

    @classmethod
    def of(cls, settings: Settings) -> TeamKeys:
        """Where the settings keep them."""
        return cls(team_place(settings))

    def create(self, wanted: TeamKey, actor: str) -> tuple[str, TeamKey]:
        """A new key as `wanted` describes it: the key itself, which nobody can read again, and its record."""
        _check(wanted)
        id = secrets.token_hex(5)
        shown = f"{MARK}{id}-{secrets.token_hex(24)}"
        key = msgspec.structs.replace(wanted, id=id, purse=wanted.purse or id, created=self._now(), revoked=0.0)
        names = [name.strip() for name in _COLUMNS.split(",")]
        row = {**msgspec.structs.asdict(key), "hash": hash_key(shown)}
        query = f"INSERT INTO team_key ({_COLUMNS}) VALUES ({', '.join(f':{name}' for name in names)})"

        def work(base: StoreConnection) -> None:
            base.execute(query, row)
            self._log(base, actor, "create key", key)

        self.file.write(work)
        return shown, key

    def find(self, id: str) -> StoredKey | None:
        """The key of these ten digits, in force or not."""
        query = f"SELECT {_COLUMNS} FROM team_key WHERE id=?"
        row = self.file.read(lambda base: base.execute(query, (id,)).fetchone())
        if row is None:
            return None
        return read_key(row)

    def list(self, *, owner: str = "", team: str = "", revoked: bool = False) -> Sequence[TeamKey]:
        """Keys in force, the newest first: all, or those of a person or a team; also those that were revoked."""
        query, values = f"SELECT {_COLUMNS} FROM team_key", list[str]()
        conditions = []
        if not revoked:
            conditions.append("revoked=0")
        for name, wanted in (("owner", owner), ("team", team)):
            if wanted:
                conditions.append(f"{name}=?")
                values.append(wanted)
        if conditions:
            query += " WHERE " + " AND ".join(conditions)
        query += " ORDER BY created DESC, id"
        rows = self.file.read(lambda base: base.execute(query, values).fetchall())
        return [read_key(row).key for row in rows]

    def revoke(self, id: str, actor: str) -> TeamKey:
        """End a key for good."""
        stored = self.find(id)
        if stored is None:
            raise UnknownName("key", id, fix="See `laconic team key list`.")
        key = msgspec.structs.replace(stored.key, revoked=self._now())

        def work(base: StoreConnection) -> None:
            base.execute("UPDATE team_key SET revoked=? WHERE id=? AND revoked=0", (key.revoked, id))
            self._log(base, actor, "revoke key", key)

        if not stored.key.revoked:
            self.file.write(work)
        return key

    def audit(self, limit: int = 200) -> Sequence[AuditEntry]:
        """The newest acts of administration."""
        return read_audit(self.file, limit)

    def close(self) -> None:
        self.file.close()

    def _log(self, base: StoreConnection, actor: str, action: str, key: TeamKey) -> None:
        detail = f"owner {key.owner}, team {key.team or '-'}, role {key.role}, models {key.models or 'all'}, "
        detail += f"budget {describe_budget(key)}, rate {key.rate or 'none'}"
        write_audit(base, AuditEntry(at=self._now(), actor=actor, action=action, subject=key.id, detail=detail))


def read_key(row: Sequence[Any]) -> StoredKey:
    """From a row of `_COLUMNS`."""
    names = [name.strip() for name in _COLUMNS.split(",")]
    found = dict(zip(names, row, strict=True))
    hashed = str(found.pop("hash"))
    return StoredKey(TeamKey(**found), hashed)


def hash_key(shown: str) -> str:
    return sha256(shown.encode("utf-8", "surrogateescape")).hexdigest()


def key_id(shown: str) -> str:
    """The digits by which a key is found; empty when it is none."""
    found = KEY.fullmatch(shown)
    if found is None:
        return ""
    return found[1]


def describe_budget(key: TeamKey) -> str:
    if not key.budget:
        return "none"
    return f"${key.budget:g}/{key.period}"


def parse_budget(text: str) -> tuple[float, str]:
    """Dollars and a period from `50/month`; an empty text is no limit."""
    if not text:
        return 0.0, "month"
    amount, _, period = text.partition("/")
    try:
        dollars = float(amount.strip().removeprefix("$"))
    except ValueError:
        dollars = -1.0
    period = period.strip() or "month"
    if not 0 < dollars < 1e9 or period not in PERIODS:
        raise UsageError(f"{text!r} is not a budget.", f"Write dollars and one of {', '.join(PERIODS)}: 50/month.")
    return dollars, period


def _expiry(days: float, now: float) -> float:
    """The moment so many days from now; 0, which is never, for none."""
    if not days:
        return 0.0
    if not 0 < days <= _LONGEST_LIFE:
        raise UsageError(f"{days:g} is not a number of days.", f"Write 1 to {_LONGEST_LIFE:,}; 0 never expires.")
    return now + days * _DAY


def _check(key: TeamKey) -> None:
    """Names are for tables and logs: short, and printable."""
    for what, name in (("owner", key.owner), ("team", key.team), ("models", key.models), ("note", key.note)):
        if len(name) > _LONGEST * 10 or not name.isprintable():
            raise UsageError(f"The {what} of the key is too long, or not printable.", "Write a plain name.")
    if not key.owner.strip() or len(key.owner) > _LONGEST or len(key.team) > _LONGEST:
        raise UsageError("A key needs an owner.", f"Name a person in at most {_LONGEST} characters: --owner alice.")
    if key.role not in ROLES:
        raise UnknownName("role", key.role, ROLES)
    if key.rate < 0:
        raise UsageError(f"{key.rate} is not a rate.", "Write requests per minute: --rate 60.")
