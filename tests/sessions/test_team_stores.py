"""Keys, budgets, spending and the log of a team, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading

import msgspec
import pytest
from tests.conftest import Places

from laconic.errors import UnknownName, UsageError
from laconic.sessions.team.budgets import Budgets, Charge, period_start
from laconic.sessions.team.keys import KEY, TeamKey, TeamKeys, parse_budget
from laconic.sessions.team.spending import TeamSpending, ViewerRights, write_csv

NOW = 1_770_000_000.0  # 2 February 2026, a Monday
ALICE = TeamKey(id="", owner="alice", team="blue", models="claude-*, gpt-5*", budget=10.0, rate=3)


class _Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def _keys(places: Places, clock: _Clock | None = None) -> TeamKeys:
    return TeamKeys(places("team"), clock or _Clock())


def test_a_key_is_shown_once_and_kept_as_a_hash(places: Places) -> None:
    keys = _keys(places)
    shown, made = keys.create(ALICE, "root")
    assert KEY.fullmatch(shown)
    found = _keys(places).find(made.id)
    assert found is not None
    assert found.key == made
    assert found.opens(shown)
    assert not found.opens(shown[:-1] + ("0" if shown[-1] != "0" else "1"))
    secret = shown.rsplit("-", 1)[1]
    rows = keys.file.read(lambda base: base.execute("SELECT * FROM team_key").fetchall())
    log = keys.file.read(lambda base: base.execute("SELECT * FROM audit").fetchall())
    assert secret not in repr(rows) + repr(log)


def test_a_revoked_key_stays_revoked_and_is_logged(places: Places) -> None:
    keys = _keys(places)
    _, made = keys.create(ALICE, "root")
    keys.revoke(made.id, "bob")
    first = keys.find(made.id)
    keys.revoke(made.id, "bob")
    assert first == keys.find(made.id)
    assert first is not None
    assert not first.key.is_open(NOW)
    assert keys.list() == []
    assert [key.id for key in keys.list(revoked=True)] == [made.id]
    assert [(entry.actor, entry.action) for entry in keys.audit()] == [("bob", "revoke key"), ("root", "create key")]
    with pytest.raises(UnknownName):
        keys.revoke("' OR 1=1 --", "bob")


def test_keys_are_listed_by_owner_and_team(places: Places) -> None:
    keys = _keys(places)
    for owner, team in (("alice", "blue"), ("bob", "blue"), ("carol", "red")):
        keys.create(msgspec.structs.replace(ALICE, owner=owner, team=team), "root")
    assert {key.owner for key in keys.list(team="blue")} == {"alice", "bob"}
    assert [key.owner for key in keys.list(owner="carol")] == ["carol"]
    assert keys.list(owner="carol", team="blue") == []


@pytest.mark.parametrize(
    "wrong", [{"owner": ""}, {"owner": "a\nb"}, {"role": "root"}, {"rate": -1}, {"team": "x" * 200}]
)
def test_a_key_that_makes_no_sense_is_not_made(places: Places, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        _keys(places).create(msgspec.structs.replace(ALICE, **wrong), "root")


def test_models_are_patterns() -> None:
    assert ALICE.allows("claude-sonnet-4-5")
    assert ALICE.allows("gpt-5.1")
    assert not ALICE.allows("gpt-4")
    assert not ALICE.allows("xclaude-")
    assert TeamKey(id="", owner="x").allows("anything")


@pytest.mark.parametrize("text", ["much", "-1/month", "5/year", "0", "nan/day", "1e99/day"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_budget(text)


def test_budgets_are_read() -> None:
    assert parse_budget("50/month") == (50.0, "month")
    assert parse_budget("$2.5/day") == (2.5, "day")
    assert parse_budget("") == (0.0, "month")


def test_periods_begin_in_utc() -> None:
    assert period_start("day", NOW) == period_start("week", NOW) == NOW // 86_400 * 86_400
    assert period_start("month", NOW) == NOW // 86_400 * 86_400 - 86_400
    assert period_start("ever", NOW) == 0


def _charge(key: TeamKey, request: str, dollars: float, **more: object) -> Charge:
    return msgspec.structs.replace(
        Charge(request=request, key=key, at=NOW, model="claude-x", prompt=100, output=10, dollars=dollars), **more
    )


def test_a_budget_covers_what_fits_and_one_more(places: Places) -> None:
    keys = _keys(places)
    budgets = Budgets(keys.file, _Clock())
    _, key = keys.create(msgspec.structs.replace(ALICE, rate=0), "root")
    assert budgets.reserve(key, "a", 6.0, last=True).verdict == "covered"
    assert budgets.reserve(key, "b", 6.0, last=False).verdict == "wait"
    assert budgets.reserve(key, "c", 6.0, last=True).verdict == "last"
    assert budgets.reserve(key, "d", 4.0, last=False).verdict == "covered"  # exactly the rest
    assert budgets.reserve(key, "e", 0.1, last=True).verdict == "wait"
    budgets.settle(_charge(key, "a", 5.0), _charge(key, "c", 5.5), _charge(key, "d", 0.0, prompt=0, output=0))
    assert budgets.reserve(key, "f", 0.1, last=True) == ("spent", 10.5)
    assert budgets.spent([key]) == {key.id: 10.5}


def test_a_new_period_begins_with_the_whole_budget(places: Places) -> None:
    clock = _Clock()
    keys = _keys(places, clock)
    budgets = Budgets(keys.file, clock)
    _, key = keys.create(msgspec.structs.replace(ALICE, rate=0), "root")
    budgets.settle(_charge(key, "a", 11.0))
    assert budgets.reserve(key, "b", 1.0, last=True).verdict == "spent"
    clock.now += 31 * 86_400
    assert budgets.reserve(key, "b", 1.0, last=True).verdict == "covered"


def test_what_a_killed_replica_reserved_comes_back(places: Places) -> None:
    clock = _Clock()
    keys = _keys(places, clock)
    budgets = Budgets(keys.file, clock)
    _, key = keys.create(msgspec.structs.replace(ALICE, rate=0), "root")
    assert budgets.reserve(key, "dead", 10.0, last=False).verdict == "covered"
    assert budgets.reserve(key, "next", 1.0, last=False).verdict == "wait"
    clock.now += 100
    budgets.renew(["dead"])
    clock.now += 100
    assert budgets.reserve(key, "next", 1.0, last=False).verdict == "wait"
    clock.now += 200
    assert budgets.reserve(key, "next", 1.0, last=False).verdict == "covered"


def test_a_rate_counts_requests_of_a_minute(places: Places) -> None:
    clock = _Clock()
    keys = _keys(places, clock)
    budgets = Budgets(keys.file, clock)
    _, key = keys.create(ALICE, "root")
    said = [budgets.reserve(key, str(n), 0.0, last=True).verdict for n in range(4)]
    assert said == ["covered"] * 3 + ["rate"]
    clock.now += 60
    assert budgets.reserve(key, "later", 0.0, last=True).verdict == "covered"


def test_a_revoked_key_reserves_nothing(places: Places) -> None:
    keys = _keys(places)
    budgets = Budgets(keys.file, _Clock())
    _, key = keys.create(ALICE, "root")
    keys.revoke(key.id, "root")
    assert budgets.reserve(key, "a", 0.0, last=True).verdict == "revoked"
    assert budgets.reserve(msgspec.structs.replace(key, id="0000000000"), "b", 0.0, last=True).verdict == "revoked"


def test_keys_with_one_purse_share_a_budget(places: Places) -> None:
    keys = _keys(places)
    budgets = Budgets(keys.file, _Clock())
    _, one = keys.create(msgspec.structs.replace(ALICE, purse="login alice"), "root")
    _, two = keys.create(msgspec.structs.replace(ALICE, purse="login alice"), "root")
    budgets.settle(_charge(one, "a", 12.0))
    assert budgets.reserve(two, "b", 0.1, last=True).verdict == "spent"


def test_replicas_that_reserve_at_once_never_hand_out_more_than_there_is(places: Places) -> None:
    """Each thread has a store of its own, as replicas do."""
    keys = _keys(places)
    _, key = keys.create(msgspec.structs.replace(ALICE, rate=0), "root")
    said: list[str] = []

    def replica(number: int) -> None:
        budgets = Budgets(TeamKeys(places("team"), _Clock()).file, _Clock())
        for each in range(10):
            said.append(budgets.reserve(key, f"{number} {each}", 1.0, last=False).verdict)

    threads = [threading.Thread(target=replica, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("covered") == 10
    assert said.count("wait") == 30


def test_spending_is_seen_by_role(places: Places) -> None:
    keys = _keys(places)
    budgets, spending = Budgets(keys.file, _Clock()), TeamSpending(keys.file)
    for number, (owner, team) in enumerate((("alice", "blue"), ("bob", "blue"), ("carol", "red"), ("dan", ""))):
        _, key = keys.create(msgspec.structs.replace(ALICE, owner=owner, team=team), "root")
        budgets.settle(_charge(key, f"{owner} 1", 1.0 + number), _charge(key, f"{owner} 2", 1.0, project="=cmd()"))

    def people(rights: ViewerRights) -> dict[str, float]:
        return {line.name: line.dollars for line in spending.lines("person", NOW, rights)}

    assert people(ViewerRights("admin")) == {"alice": 2.0, "bob": 3.0, "carol": 4.0, "dan": 5.0}
    assert people(ViewerRights("lead", "alice", "blue")) == {"alice": 2.0, "bob": 3.0}
    assert people(ViewerRights("lead", "dan", "")) == {"dan": 5.0}
    assert people(ViewerRights("developer", "alice", "blue")) == {"alice": 2.0}
    assert people(ViewerRights("developer", "' OR 1=1 --", "")) == {}
    assert [line.name for line in spending.lines("team", NOW, ViewerRights("admin"))] == ["", "blue", "red"]
    assert spending.lines("day", NOW, ViewerRights("admin"))[0].name == "2026-02-02"
    assert spending.lines("person", NOW + 86_400, ViewerRights("admin")) == []
    with pytest.raises(UnknownName):
        spending.lines("person; DROP TABLE audit", NOW, ViewerRights("admin"))
    table = write_csv(spending.rows(NOW, ViewerRights("developer", "bob")))
    assert "2026-02-02,bob,blue,,,claude-x,1,100,10,2.000000,0.000000" in table
    assert ",'=cmd()," in table
    assert "alice" not in table


def test_the_same_settlement_adds_up(places: Places) -> None:
    keys = _keys(places)
    budgets, spending = Budgets(keys.file, _Clock()), TeamSpending(keys.file)
    _, key = keys.create(ALICE, "root")
    for number in range(3):
        budgets.settle(_charge(key, str(number), 0.5))
    (line,) = spending.lines("model", NOW, ViewerRights("admin"))
    assert (line.name, line.requests, line.prompt, line.output, line.dollars) == ("claude-x", 3, 300, 30, 1.5)
