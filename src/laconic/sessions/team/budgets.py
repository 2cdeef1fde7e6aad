"""What keys may still spend, counted for all replicas: a request reserves what it may cost, and is charged what it did.

A request whose highest cost fits into the rest of the budget is covered. One more may run on each replica that is not:
hence a budget is exceeded by at most one request a replica.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from laconic.sessions.store import StoreConnection, StoreDatabase
from laconic.sessions.team.keys import TeamKey

Verdict = Literal["covered", "last", "wait", "spent", "rate", "revoked"]
LEASE: Final = 120.0  # seconds that a reservation holds; a replica that lives renews it
_OLD: Final = 3600  # seconds after which counts of requests go
_BETWEEN: Final = 200  # settlements between two looks for them
_SPENT: Final = "SELECT dollars FROM spent WHERE purse=? AND since=?"
_RESERVED: Final = "SELECT COALESCE(sum(dollars), 0) FROM reserved WHERE purse=? AND until>?"
_ASKED: Final = "SELECT requests FROM asked WHERE id=? AND minute=?"
_COUNT: Final = "INSERT INTO asked VALUES (?,?,1) ON CONFLICT (id, minute) DO UPDATE SET requests=asked.requests+1"
_RESERVE: Final = "INSERT INTO reserved VALUES (?,?,?,?)"
_CHARGE: Final = (
    "INSERT INTO spent VALUES (?,?,?,1) ON CONFLICT (purse, since) DO UPDATE SET"
    " dollars=spent.dollars+excluded.dollars, requests=spent.requests+1"
)
_ADD: Final = (
    "INSERT INTO spending VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (day, person, team, project, client, model)"
    " DO UPDATE SET requests=spending.requests+excluded.requests, prompt=spending.prompt+excluded.prompt,"
    " output=spending.output+excluded.output, dollars=spending.dollars+excluded.dollars,"
    " dollars_whole=spending.dollars_whole+excluded.dollars_whole"
)


class Admission(NamedTuple):
    """What was decided about a request, and what its purse had spent until then."""

    verdict: Verdict
    spent: float = 0.0


class Charge(msgspec.Struct, frozen=True):
    """What one request cost, and for what."""

    request: str
    key: TeamKey
    at: float
    project: str = ""
    client: str = ""
    model: str = ""
    prompt: int = 0
    output: int = 0
    dollars: float = 0.0
    dollars_whole: float = 0.0


class Budgets:
    """The purses of one team."""

    def __init__(self, file: StoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now
        self._settled = 0

    def reserve(self, key: TeamKey, request: str, dollars: float, *, last: bool) -> Admission:
        """Whether a request that costs at most `dollars` may go. `last`: no uncovered one runs on this replica."""
        now = self._now()

        def work(base: StoreConnection) -> Admission:
            row = base.execute("SELECT revoked, expires FROM team_key WHERE id=?", (key.id,)).fetchone()
            if row is None or row[0] or (row[1] and now >= row[1]):
                return Admission("revoked")
            minute = int(now // 60)
            if key.rate:
                count = base.execute(_ASKED, (key.id, minute)).fetchone()
                if count is not None and count[0] >= key.rate:
                    return Admission("rate")
            found = self._judge(base, key, dollars, now, last=last)
            if found.verdict not in {"covered", "last"}:
                return found
            if key.rate:
                base.execute(_COUNT, (key.id, minute))
            if key.budget:
                held = dollars if found.verdict == "covered" else 0.0
                base.execute(_RESERVE, (request, key.purse, held, now + LEASE))
            return found

        return self._file.write(work, flush=False, alone=key.purse)

    def _judge(self, base: StoreConnection, key: TeamKey, dollars: float, now: float, *, last: bool) -> Admission:
        if not key.budget:
            return Admission("covered")
        row = base.execute(_SPENT, (key.purse, period_start(key.period, now))).fetchone()
        (held,) = base.execute(_RESERVED, (key.purse, now)).fetchone()
        spent = float(row[0]) if row is not None else 0.0
        if spent >= key.budget:
            return Admission("spent", spent)
        if spent + held + dollars <= key.budget:
            return Admission("covered", spent)
        if not last or spent + held >= key.budget:
            return Admission("wait", spent)
        return Admission("last", spent)

    def renew(self, requests: Collection[str]) -> None:
        """These run on: keep what they reserved."""
        until = self._now() + LEASE
        query = "UPDATE reserved SET until=? WHERE request=?"
        self._file.write(lambda base: base.executemany(query, [(until, one) for one in requests]), flush=False)

    def settle(self, *charges: Charge) -> None:
        """Charge what requests cost, and give back what they had reserved; all or none."""

        self._settled += 1
        is_time = self._settled % _BETWEEN == 0

        def work(base: StoreConnection) -> None:
            for charge in charges:
                _settle(base, charge)
            if is_time:
                now = self._now()
                base.execute("DELETE FROM reserved WHERE until<?", (now,))
                base.execute("DELETE FROM asked WHERE minute<?", (int(now - _OLD) // 60,))

        self._file.write(work)

    def spent(self, keys: Sequence[TeamKey]) -> dict[str, float]:
        """Dollars of the running period, by the id of a key."""
        now = self._now()
        oldest = min((period_start(key.period, now) for key in keys), default=0)
        query = "SELECT purse, since, dollars FROM spent WHERE since>=?"
        purses = {}
        for purse, since, dollars in self._file.read(lambda base: base.execute(query, (oldest,)).fetchall()):
            purses[purse, int(since)] = float(dollars)
        found = {}
        for key in keys:
            found[key.id] = purses.get((key.purse, period_start(key.period, now)), 0.0)
        return found


def _settle(base: StoreConnection, charge: Charge) -> None:
    key = charge.key
    base.execute("DELETE FROM reserved WHERE request=?", (charge.request,))
    if not charge.prompt and not charge.output and not charge.dollars:
        return
    base.execute(_CHARGE, (key.purse, period_start(key.period, charge.at), charge.dollars))
    day = int(charge.at) // 86_400 * 86_400
    base.execute(
        _ADD,
        (
            *(day, key.owner, key.team, charge.project, charge.client, charge.model),
            *(1, charge.prompt, charge.output, charge.dollars, charge.dollars_whole),
        ),
    )


def period_start(period: str, now: float) -> int:
    """When the period that runs now began, in UTC."""
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return int(today.timestamp())
    if period == "week":
        return int((today - timedelta(days=today.weekday())).timestamp())
    if period == "month":
        return int(today.replace(day=1).timestamp())
    return 0
