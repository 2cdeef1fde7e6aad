"""What calls cost, as a table and as JSON."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.cli.main import main
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns


@pytest.mark.feature("J8")
def test_stats_counts_calls_by_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls, errors, repaired arguments, tokens and time of every tool that was called."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    main(["stats"])
    assert capsys.readouterr().out == "No tool has been called yet.\n"
    root = shop(tmp_path)
    main(["read", "shop/cart.py", "--root", str(root)])
    main(["read", "shop/cart.py", "--budget", "60", "--root", str(root)])
    main(["read", "nowhere.py", "--root", str(root)])
    capsys.readouterr()
    main(["stats", "--json"])
    (row,) = json.loads(capsys.readouterr().out)["tools"]
    assert (row["tool"], row["calls"]) == ("read", 3)
    assert row["cut"] == 1
    assert 0 < row["mean"] <= row["p95"] <= row["largest"]
    assert row["milliseconds"] > 0
    main(["stats"])
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["tool", "calls", "errors"]
    assert line.split()[:2] == ["read", "3"]


@pytest.mark.feature("P3")
def test_stats_counts_malformed_calls_by_provider_model_and_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the gateway wrote them down, the most first."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    turns = Turns(tmp_path / FILE)
    for reasons in (("not-json",), ("unknown-tool", "not-json")):
        turns.add(TurnRecord(TurnIdentity("s", upstream="ollama", model="gemma"), 1.0, malformed=reasons))
    turns.close()
    main(["stats", "--json"])
    rows = json.loads(capsys.readouterr().out)["malformed"]
    assert [(row["upstream"], row["model"], row["reason"], row["count"]) for row in rows] == [
        ("ollama", "gemma", "not-json", 2),
        ("ollama", "gemma", "unknown-tool", 1),
    ]
    main(["stats"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split() == ["ollama", "gemma", "not-json", "2"]


def test_stats_show_what_models_cost_and_what_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With us and without, output apart; no dollars where no price is known; `about` where nobody counted."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    with closing(Turns(tmp_path / FILE)) as turns:
        known = AnswerCost(input=1_000, output=100, whole=2_000, dollars=1.5, dollars_whole=2.5, output_dollars=0.5)
        turns.add(TurnRecord(TurnIdentity("a", upstream="anthropic", model="claude-sonnet-4-5"), 1.0, cost=known))
        other = AnswerCost(input=900, output=10, whole=900, unpriced=910, estimated=True)
        turns.add(TurnRecord(TurnIdentity("b", upstream="corp", model="mine"), 1.0, cost=other))
    main(["stats"])
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "claude-sonnet-4-5 (anthropic), 1 turn: "
        "1,000 prompt tokens instead of about 2,000 (50% fewer), 100 output tokens; "
        "$1.50 instead of about $2.50, $0.50 of it for output",
        "mine (corp), 1 turn: about 900 prompt tokens, about 10 output tokens; price unknown (set `prices`)",
    ]
    main(["stats", "--json"])
    rows = json.loads(capsys.readouterr().out)["models"]
    assert [(row["model"], row["dollars"], row["unpriced"]) for row in rows] == [
        ("claude-sonnet-4-5", 1.5, 0),
        ("mine", 0.0, 910),
    ]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_stats_print_no_character_that_steers_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    """Names of models and providers come from requests."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    with closing(Turns(tmp_path / FILE)) as turns:
        who = TurnIdentity("s", upstream="up\x1b]0;x\x07", model="m\x9b2J\u202e")
        turns.add(TurnRecord(who, 1.0, cost=AnswerCost(input=10), malformed=("not-json",)))
    main(["stats", *form])
    printed = capsys.readouterr().out
    assert "2J" in printed
    assert not set(printed) & set("\x1b\x07\x9b\u202e")
