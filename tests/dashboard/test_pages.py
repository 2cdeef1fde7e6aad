"""Pages and the JSON interface say the same, whatever the names in them are."""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.dashboard.conftest import client
from tests.dashboard.reading import at, exact, read

from laconic.config import Settings
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt
from laconic.dashboard.format import money, short
from laconic.records import AddedBlock, AddedContent
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\x00\ud800${7*7}{{7*7}}"


def _paths(pages: TestClient) -> list[str]:
    """Every page: the session with the most decisions, and something that was left out of it."""
    (first, *_) = pages.get("/api/sessions.json?order=decisions").json()["sessions"]
    whole = pages.get("/api/session.json", params={"name": first["session"]}).json()
    (ref, *_) = [row["ref"] for row in whole["decisions"] if row["ref"]]
    session, archive = f"session?name={first['session']}", f"archive?ref={ref}"
    return [
        "?days=0",
        "",
        "sessions",
        "sessions?order=saved",
        session,
        "spent?days=0",
        "causes?days=0",
        "tools",
        "models",
        archive,
    ]


def _api(path: str) -> str:
    name, sign, query = path.partition("?")
    return f"/api/{name or 'overview'}.json{sign}{query}"


def test_every_number_on_a_page_is_the_one_of_the_json_interface(pages: TestClient) -> None:
    """Each figure names its place in the JSON document and has exactly that value; no digit stands outside a figure."""
    for path in _paths(pages):
        for _ in range(3):  # what a quota has left changes with the clock
            page, document = pages.get(f"/{path}"), pages.get(_api(path))
            assert (page.status_code, document.status_code) == (200, 200), path
            found, values = read(page.text), document.json()
            wrong = [pointer for pointer, value in found.figures if exact(value) != at(values, pointer)]
            if not wrong:
                break
        assert not wrong, path
        assert ("a", {"id": "json", "href": _api(path)[1:]}) in found.elements
        assert not [text for text in found.loose if re.search(r"\d", text)], path
        assert path in {"", "?days=0"} or len(found.figures) >= 3, path
    overview = [pointer for pointer, _ in read(pages.get("/?days=0").text).figures]
    assert len(overview) > 100
    assert any(pointer.startswith("/quotas/") for pointer in overview)


def test_charts_are_drawn_from_the_json_interface(pages: TestClient) -> None:
    """What a chart says at a point is what the interface says there."""
    path = next(path for path in _paths(pages) if path.startswith("session?"))
    tips = [given["data-tip"] for _, given in read(pages.get(f"/{path}").text).elements if given.get("data-tip")]
    for turn in pages.get(_api(path)).json()["turns"]:
        assert turn["sent"] == turn["totals"]["prompt"]  # these providers always say
        assert f"turn {turn['number']}\n{short(turn['sent'])} tokens sent\n{short(turn['without'])} without" in tips
        assert f"turn {turn['number']}\n{money(turn['paid'])} paid\n{money(turn['paid_without'])} without" in tips
    days = pages.get("/api/overview.json?days=0").json()["buckets"]
    tips = [given["data-tip"] for _, given in read(pages.get("/?days=0").text).elements if given.get("data-tip")]
    said = [f"{short(day['totals']['prompt'])} tokens sent" for day in days]
    assert [tip.split("\n")[1] for tip in tips if tip and "tokens sent" in tip] == said


def test_tables_and_charts_have_names(pages: TestClient) -> None:
    """Tables have captions and headed rows, drawings a label or are hidden from readers, pages one heading."""
    for path in _paths(pages):
        elements = read(pages.get(f"/{path}").text).elements
        names = [name for name, _ in elements]
        assert names.count("table") == names.count("caption")
        assert names.count("h1") == names.count("main") == 1
        assert all(given.get("scope") in {"row", "col"} for name, given in elements if name == "th")
        ids = [given["id"] for _, given in elements if "id" in given]
        assert len(ids) == len(set(ids)), path
        for name, given in elements:
            if name == "svg" and "chart" in (given.get("class") or ""):
                assert given["role"] in {"img", "group"}
                assert given["aria-label"]


def test_no_page_names_another_machine(pages: TestClient) -> None:
    """Everything that a page loads or links to is its own; nothing needs a style or a script inside the page."""
    statics = ["static/dashboard.css", "static/dashboard.js", "static/icon.svg"]
    for path in _paths(pages):
        for name, given in read(pages.get(f"/{path}").text).elements:
            for attribute in ("href", "src", "action"):
                link = given.get(attribute) or ""
                assert not re.match(r"\w+:|//|/", link), (path, name, link)
            assert "style" not in given
            assert not [key for key in given if key.startswith("on")]
            assert name != "script" or given.get("src") in statics
    for path in statics:
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", pages.get(f"/{path}").text)


def test_hostile_names_are_shown_as_they_are(settings: Settings) -> None:
    """Names of sessions, models, clients, tools, files and notes are text, never markup."""
    folder = settings.cache_dir()
    text = HOSTILE.replace("\ud800", "")
    ref = Archive.of(settings).put("s", "", HOSTILE.encode("utf-8", "replace"), text)
    record = Turns(folder / FILE)
    block = AddedBlock("k", text, text, text, 10, 10)
    added_content = AddedContent(1, 5, (block,), True, text)
    who = TurnIdentity("s", text, text, text, text, text)
    record.add(
        TurnRecord(
            who,
            1.0,
            200,
            cost=AnswerCost(1, 1, 1, 1, 9.0),
            added_content=added_content,
            decisions=1,
            malformed=(text,),
        )
    )
    record.close()
    made = Decision("k", "age", Receipt(ref), field=text, before=9, after=1, turn=1, note=text)
    branch = Branch(id=1, tip="t", count=1, time=1.0, start=0, basis=0)
    LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch).record("s", 0, LedgerEntry(1, "t", 1, (made,)), branch)
    calls = ToolCallLog(folder)
    calls.record(text, 5, 1.0)
    calls.close()
    pages = client(settings)
    for path in ("?days=0", "sessions", "session?name=s", "spent?days=0", "tools", "models", f"archive?ref={ref}"):
        answer = pages.get(f"/{path}")
        assert answer.status_code == 200, path
        elements = [name for name, _ in read(answer.text).elements]
        assert elements.count("script") == 1, path
        assert "img" not in elements
        assert "<script>alert" not in answer.text
        assert "&lt;script&gt;alert(1)" in answer.text, path
    for path in (
        f"session?name={HOSTILE[:60]}",
        f"archive?ref={HOSTILE[:60]}",
        "nowhere",
        "?days=x",
        "sessions?order=x",
    ):
        answer = pages.get("/" + path.replace("#", "%23").replace("&", "%26"))
        assert answer.status_code == 404, path
        assert "<script>alert" not in answer.text


def test_what_was_left_out_can_be_read(pages: TestClient) -> None:
    """From a mark on the curve to the decision, from there to the text, exactly."""
    path = next(path for path in _paths(pages) if path.startswith("session?"))
    elements = read(pages.get(f"/{path}").text).elements
    marks = [
        given["href"] for name, given in elements if name == "a" and (given.get("href") or "").startswith("#dec")
    ]
    anchors = {f"#{given['id']}" for _, given in elements if "id" in given}
    assert marks
    assert anchors & set(marks)
    link = next(given["href"] for name, given in elements if name == "a" and "archive?" in (given.get("href") or ""))
    assert link is not None
    page, plain = pages.get(f"/{link}"), pages.get("/" + link.replace("archive?", "archive.txt?"))
    assert "def settle(order, rate):" in page.text
    assert plain.headers["content-type"].startswith("text/plain")
    assert pages.get("/api/" + link.replace("archive?", "archive.json?")).json()["text"] == plain.text


def test_decisions_stand_at_the_turn_that_made_them(pages: TestClient) -> None:
    """Marks add up to the decisions, and each stands where the record counted one."""
    path = next(path for path in _paths(pages) if path.startswith("session?"))
    page = pages.get(_api(path)).json()
    assert sum(event["decisions"] for event in page["events"]) == page["decisions_total"]
    counted = {turn["number"]: turn["decisions"] for turn in page["turns"] if turn["decisions"]}
    assert {event["number"]: event["decisions"] for event in page["events"]} == counted


def test_all_decisions_can_be_reached(pages: TestClient) -> None:
    """Page by page back to the first; every mark leads to a place where its decisions are listed."""
    path = next(path for path in _paths(pages) if path.startswith("session?"))
    whole = pages.get(_api(path)).json()
    seen, marks = set(), set()
    here: str | None = path
    while here:
        elements = read(pages.get(f"/{here}").text).elements
        seen |= {given["id"] for _, given in elements if (given.get("id") or "").startswith("decisions-")}
        marks |= {(given.get("href") or "").partition("#")[2] for name, given in elements if name == "a"} - {
            "",
            "main",
        }
        links = [given.get("href") or "" for name, given in elements if name == "a"]
        here = next((link for link in links if "until=" in link and "#" not in link), None)
    assert seen == marks == {f"decisions-{event['number']}" for event in whole["events"]}


def test_an_unchanged_page_is_not_sent_again(settings: Settings) -> None:
    """A page that is asked for again with its mark answers nothing until a turn is recorded."""
    pages = client(settings)
    first = pages.get("/?days=0")
    assert "Nothing was recorded in this period" in first.text
    mark = {"if-none-match": first.headers["etag"]}
    assert pages.get("/?days=0", headers=mark).status_code == 304
    record = Turns(settings.cache_dir() / FILE)
    record.add(TurnRecord(TurnIdentity("s"), 1.0, 200, cost=AnswerCost(5, 0, 0, 1, 9.0)))
    again = pages.get("/?days=0", headers=mark)
    assert again.status_code == 200
    assert again.headers["etag"] != first.headers["etag"]
    assert "Nothing was recorded in this period" not in again.text
    record.close()


PAGES = {"turns.sqlite": "/", "calls.sqlite": "/tools", "ledger.sqlite": "/session?name=s"}


def _recorded(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = Turns(folder / FILE)
    record.add(TurnRecord(TurnIdentity("s"), 1.0, 200))
    record.close()


@pytest.mark.parametrize("newer", list(PAGES))
def test_a_file_that_cannot_be_used_is_named(settings: Settings, newer: str) -> None:
    """A file of a newer program gives a page that says so, not a stack of calls."""
    folder: Path = settings.cache_dir()
    _recorded(folder)
    with closing(sqlite3.connect(folder / newer)) as base:
        base.execute("PRAGMA user_version = 99")
    answer = client(settings).get(PAGES[newer])
    assert answer.status_code == 500
    assert newer in answer.text


@pytest.mark.parametrize("damaged", list(PAGES))
def test_a_damaged_file_does_not_stop_a_page(settings: Settings, damaged: str) -> None:
    folder: Path = settings.cache_dir()
    if damaged == "ledger.sqlite":
        _recorded(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / damaged).write_bytes(b"this is no database" * 100)
    assert client(settings).get(PAGES[damaged]).status_code == 200
    assert (folder / f"{damaged}.ruined-1").exists()


def test_a_price_that_is_not_known_is_said_and_an_estimate_too(settings: Settings) -> None:
    """No dollars are invented, and what the provider did not count is about right, no more."""
    with closing(Turns(settings.cache_dir() / FILE)) as turns:
        none = AnswerCost(input=900, output=100, whole=900, unpriced=1_000)
        turns.add(TurnRecord(TurnIdentity("none", model="mine"), time.time(), cost=none))
        rough = AnswerCost(
            input=900, output=100, whole=900, dollars=2.5, dollars_whole=2.5, output_dollars=1, estimated=True
        )
        turns.add(TurnRecord(TurnIdentity("rough", model="claude-sonnet-4-5"), time.time(), cost=rough))
    pages = client(settings)
    assert "price unknown" in pages.get("/session?name=none").text
    assert "about $2.50" in pages.get("/session?name=rough").text
    assert "$1.00</data> for output" in pages.get("/session?name=rough").text
    assert "at least $2.50" in pages.get("/").text
    models = pages.get("/models").text
    assert ("price unknown" in models, "$2.50" in models) == (True, True)


def test_the_same_money_looks_the_same_whatever_was_added_first() -> None:
    assert 0.015 != 0.1 + 0.2 - 0.285
    assert money(0.015) == money(0.1 + 0.2 - 0.285)
