"""The team's pages: each role sees what is its own, in every form, and only an admin's key changes anything."""

from __future__ import annotations

import json

import msgspec
import pytest
from starlette.testclient import TestClient
from tests.conftest import Places

from laconic.dashboard.team_app import make_team_application
from laconic.sessions.team.budgets import Budgets, Charge
from laconic.sessions.team.keys import TeamKey, TeamKeys

OPERATOR = "the gateway's own token"


class _Team:
    def __init__(self, places: Places) -> None:
        self.keys = TeamKeys(places("team"))
        self.shown: dict[str, str] = {}
        budgets = Budgets(self.keys.file)
        people = [
            ("ada", "", "admin"),
            ("lea", "blue", "lead"),
            ("bob", "blue", "developer"),
            ("cid", "red", "developer"),
        ]
        for number, (owner, team, role) in enumerate(people):
            wanted = msgspec.convert({"id": "", "owner": owner, "team": team, "role": role, "budget": 9.0}, TeamKey)
            self.shown[owner], key = self.keys.create(wanted, "test")
            charge = Charge(
                request=owner, key=key, at=_now(), model="m", project="<b>p", prompt=10, dollars=1.0 + number
            )
            budgets.settle(charge)

    def client(self, token: str = "") -> TestClient:
        app = make_team_application(self.keys, OPERATOR)
        opened = TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)
        if token:
            opened.headers["x-laconic-token"] = token
        return opened


def _now() -> float:
    import time

    return time.time()


@pytest.fixture
def team(places: Places) -> _Team:
    return _Team(places)


SEEN = {
    "ada": {"ada", "lea", "bob", "cid"},
    "lea": {"lea", "bob"},
    "bob": {"bob"},
    "cid": {"cid"},
}


@pytest.mark.parametrize("who", SEEN)
def test_each_role_sees_its_own(team: _Team, who: str) -> None:
    client = team.client(team.shown[who])
    figures = client.get("/api/spending.json").json()
    assert {line["name"] for line in figures["person"]} == SEEN[who]
    keys = client.get("/api/keys.json").json()
    assert {key["owner"] for key in keys} == SEEN[who]
    table, page = client.get("/spending.csv"), client.get("/")
    assert table.headers["content-type"].startswith("text/csv")
    assert page.status_code == 200
    assert "&lt;b&gt;p" in page.text
    for other in set(SEEN) - SEEN[who]:
        assert f",{other}," not in table.text
        assert f">{other}<" not in page.text
    for owner in SEEN[who]:
        assert f",{owner}," in table.text
    assert "lac-" not in page.text + table.text + json.dumps(keys)


def test_the_operator_sees_all(team: _Team) -> None:
    assert len(team.client(OPERATOR).get("/api/spending.json").json()["person"]) == 4


def test_only_an_admins_key_changes_anything(team: _Team) -> None:
    wanted = json.dumps({"owner": "eve", "role": "admin"})
    for who in ("lea", "bob"):
        client = team.client(team.shown[who])
        assert client.post("/api/keys.json", content=wanted).status_code == 403
        assert client.get("/api/audit.json").status_code == 403
        assert client.post(f"/api/keys/{team.shown['ada'][4:14]}/revoke.json").status_code == 403
    admin = team.client(team.shown["ada"])
    made = admin.post("/api/keys.json", content=json.dumps({"owner": "eve", "budget": "5/day", "models": "claude-*"}))
    assert made.status_code == 200
    assert team.client(made.json()["key"]).get("/api/keys.json").json()[0]["budget"] == 5.0
    assert admin.post(f"/api/keys/{made.json()['id']}/revoke.json").status_code == 200
    assert team.client(made.json()["key"]).get("/api/keys.json").status_code == 401
    said = admin.get("/api/audit.json").json()
    assert [(row["actor"], row["action"]) for row in said[:2]] == [("ada", "revoke key"), ("ada", "create key")]
    assert admin.post("/api/keys.json", content=b'{"owner": "x", "hash": "y"}').status_code == 400
    assert admin.post("/api/keys.json", content=b'{"owner": "x", "budget": "lots"}').status_code == 400
    assert admin.post("/api/keys/none/revoke.json").status_code == 400


@pytest.mark.parametrize("days", [-1, -0.5, 40_000, 1e300])
def test_a_key_is_not_made_for_a_number_of_days_that_is_none(team: _Team, days: float) -> None:
    admin = team.client(team.shown["ada"])
    refused = admin.post("/api/keys.json", content=json.dumps({"owner": "eve", "days": days}))
    assert refused.status_code == 400
    assert "is not a number of days" in refused.json()["error"]
    assert "eve" not in {key["owner"] for key in admin.get("/api/keys.json").json()}


def test_a_key_expires_after_the_days_that_were_asked_for(team: _Team) -> None:
    admin = team.client(team.shown["ada"])
    for owner, days in (("never", 0), ("week", 7)):
        assert admin.post("/api/keys.json", content=json.dumps({"owner": owner, "days": days})).status_code == 200
    expires = {key["owner"]: key["expires"] for key in admin.get("/api/keys.json").json()}
    assert expires["never"] == 0
    assert 0 <= _now() + 7 * 86_400 - expires["week"] < 60


def test_people_end_their_own_keys(team: _Team) -> None:
    own = team.shown["bob"]
    assert team.client(own).post(f"/api/keys/{own[4:14]}/revoke.json").status_code == 200
    assert team.client(own).get("/").status_code == 401


def test_a_browser_gets_a_cookie_that_shows_pages_and_changes_nothing(team: _Team) -> None:
    client = team.client()
    assert client.get("/").status_code == 401
    entered = client.post("/", data={"token": team.shown["ada"]})
    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"]
    assert team.shown["ada"].rsplit("-", 1)[1] not in cookie
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert client.get("/").status_code == 200
    assert client.post("/api/keys.json", content=b'{"owner": "eve"}').status_code == 403
    assert client.get("/api/audit.json").status_code == 403
    team.keys.revoke(team.shown["ada"][4:14], "test")
    assert client.get("/").status_code == 401


@pytest.mark.parametrize(
    "token",
    ["", "lac-0123456789-" + "0" * 48, "' OR 1=1 --", "lac-", "x" * 5000, "lac-%-" + "0" * 48, OPERATOR + "x"],
)
def test_nobody_else_sees_anything(team: _Team, token: str) -> None:
    client = team.client(token)
    for path in ("/", "/api/spending.json", "/spending.csv", "/api/keys.json", "/api/audit.json"):
        assert client.get(path).status_code == 401
    wrong = team.shown["ada"][:-1] + "x"
    client.cookies.set("laconic_dashboard_8000", f"{team.shown['ada'][4:14]}.{'0' * 64}")
    assert client.get("/").status_code == 401
    assert team.client(wrong).get("/").status_code == 401


def test_bad_questions_are_answered_so(team: _Team) -> None:
    client = team.client(team.shown["ada"])
    assert client.get("/api/spending.json?days=5").status_code == 404
    assert client.get("/?days=' OR 1=1").status_code == 404
    assert client.get("/none").status_code == 404
