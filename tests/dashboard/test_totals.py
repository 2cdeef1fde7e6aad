"""The pages agree with each other, and the list shows what was asked for."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.dashboard.conftest import client

from laconic.config import Settings
from laconic.records import AddedContent
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns


def _get(pages: TestClient, path: str) -> Any:
    return pages.get(f"/api/{path}").json()


def _all_sessions(pages: TestClient, query: str = "") -> list[Any]:
    found, number, pages_in_all = [], 0, 1
    while number < pages_in_all:
        number += 1
        page = _get(pages, f"sessions.json?page={number}{query}")
        pages_in_all = page["pages"]
        found += page["sessions"]
    return found


def test_the_totals_of_all_pages_agree(pages: TestClient) -> None:
    """To the token and the cent, whichever page adds them up."""
    totals = _get(pages, "overview.json?days=0")["totals"]
    spent = _get(pages, "spent.json?days=0")
    sessions = _all_sessions(pages)
    listed = _get(pages, "sessions.json")["totals"]
    models = _get(pages, "models.json")["models"]
    assert totals["prompt"] > 1_000_000
    assert spent["sent"] == sum(kind["sent"] for kind in spent["kinds"]) == totals["prompt"]
    assert spent["whole"] == sum(kind["whole"] for kind in spent["kinds"]) == totals["prompt_without"]
    assert listed["prompt"] == sum(row["totals"]["prompt"] for row in sessions) == totals["prompt"]
    assert sum(model["prompt"] for model in models) == totals["prompt"]
    for name in ("dollars", "output_dollars"):
        assert sum(row["totals"][name] for row in sessions) == pytest.approx(totals[name])
        assert sum(model[name] for model in models) == pytest.approx(totals[name])
    assert sum(row["totals"]["turns"] for row in sessions) == totals["turns"]


def test_the_parts_of_a_session_add_up_to_it(pages: TestClient) -> None:
    for row in _all_sessions(pages):
        session = _get(pages, f"session.json?name={row['session']}")
        assert sum(kind["sent"] for kind in session["kinds"]) == session["session"]["totals"]["prompt"]


_AGENTS = {
    "main": "claude-cli/2.1.197 (external, cli)",
    "naming": "claude-cli/2.1.197 (external, cli)",
    "other": "codex_exec/0.166.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.166.0)",
    "newer": "codex_cli_rs/0.167.0 (Debian 12.0.0; x86_64)",
}


def _record(settings: Settings) -> TestClient:
    with closing(Turns(settings.cache_dir() / FILE)) as turns:
        for name, family, tokens, title in (
            ("main", "f", 5_000, "Fix the parser"),
            ("naming", "f", 100, "Write a title"),
            ("other", "", 700, "Speed up uploads"),
            ("newer", "", 600, "Speed up downloads"),
        ):
            agent = _AGENTS[name]
            who = TurnIdentity(name, model="m", client=agent, family=family)
            cost = AnswerCost(
                input=tokens, output=10, whole=2 * tokens, dollars=tokens / 1e3, dollars_whole=tokens / 500
            )
            added_content = AddedContent(1, 5, title=title, anew=True, project=f"/home/{agent[0]}")
            turns.add(TurnRecord(who, 1_000.0 + tokens, 200, cost=cost, added_content=added_content))
    return client(settings)


def test_what_a_client_asks_on_the_side_stands_under_its_session(settings: Settings) -> None:
    pages = _record(settings)
    rows = {row["session"]: row for row in _get(pages, "sessions.json")["sessions"]}
    assert set(rows) == {"main", "other", "newer"}
    assert (rows["main"]["side"], rows["main"]["title"], rows["main"]["totals"]["prompt"]) == (
        1,
        "Fix the parser",
        5_100,
    )
    assert [row["session"] for row in _get(pages, "session.json?name=main")["side"]] == ["naming"]
    assert "asked on the side" in pages.get("/sessions").text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("client=Codex", ["other", "newer"]),
        ("client=nobody", []),
        ("project=/home/c", ["main", "other", "newer"]),
        ("words=PARSER fix", ["main"]),
        ("words=nothing", []),
        ("order=prompt", ["main", "other", "newer"]),
        ("order=last&client=Claude Code", ["main"]),
    ],
)
def test_the_list_is_filtered_searched_and_sorted(settings: Settings, query: str, names: list[str]) -> None:
    pages = _record(settings)
    found = _get(pages, f"sessions.json?{query}")
    assert [row["session"] for row in found["sessions"]] == names
    assert found["total"] == len(names)
    assert found["clients"] == ["Claude Code", "Codex"]
    page = pages.get(f"/sessions?{query}")
    assert "0.166.0" not in page.text
    assert page.status_code == 200
    assert page.text.count('aria-sort="descending"') == (1 if names else 0)


def test_savings_are_said_as_what_is_fewer(settings: Settings) -> None:
    assert "50 % fewer" in _record(settings).get("/?days=0").text


def test_a_name_that_a_model_made_up_is_no_tool_of_ours(settings: Settings) -> None:
    with closing(ToolCallLog(settings.cache_dir())) as calls:
        for name in ("search", "grep_everything"):
            calls.record(name, 10, 1.0, failed=name != "search")
    assert [row["tool"] for row in _get(client(settings), "tools.json")["ours"]] == ["search"]
