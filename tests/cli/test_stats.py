"""What calls cost, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.cli.main import main
from laconic.sessions.turns import FILE, Turn, Turns, Who


@pytest.mark.feature("J8")
def test_stats_counts_calls_by_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls, errors, repaired arguments, tokens and time of every tool that was called."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    main(["stats"])
    assert capsys.readouterr().out == "No tool was called yet.\n"
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
        turns.add(Turn(Who("s", upstream="ollama", model="gemma"), 1.0, malformed=reasons))
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
