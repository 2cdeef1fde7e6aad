"""`laconic replay`."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.conversation.sessions import long_session

from laconic.cli.main import main
from laconic.errors import UsageError


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": [*long_session(40), {"role": "assistant", "content": "done"}]}))
    return path


def test_it_prints_tokens_money_and_what_was_kept(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(session), "--json", "--policy", "default"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["outcome"]["turns"] == 41
    assert 0 < found["outcome"]["passed"] < found["outcome"]["tokens"]
    assert found["dollars_passed"] < found["dollars"] < found["dollars_plain"]


@pytest.mark.parametrize(("model", "is_cut"), [("claude-sonnet-4-5", True), ("claude-sonnet-4-5[1m]", False)])
def test_a_session_near_the_window_is_shortened_as_a_gateway_would(
    model: str, is_cut: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that were read, too few and too new to go for any other reason."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Read them."}]
    for number in range(28):
        read = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/a/{number}.py"}}
        lines = "\n".join(f"def step_{number}_{row}(): return {row * 7919}" for row in range(470))
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": lines}
        messages += [{"role": "assistant", "content": [read]}, {"role": "user", "content": [result]}]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": [*messages, {"role": "assistant", "content": "done"}]}))
    assert main(["replay", str(path), "--json", "--policy", "default", "--model", model]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["outcome"]["tokens"] / 29 > 95_000
    assert (found["outcome"]["passed"] < 0.97 * found["outcome"]["tokens"]) == is_cut


def test_it_writes_a_page_with_a_chart(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(session), "--html", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("<figure") == 1
    assert "request 41" in page
    assert "session" in capsys.readouterr().out


def test_the_table_has_titles_and_totals_and_fits_a_terminal(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(session), "--policy", "default", "--policy", "tasks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["all", "all"]
    assert max(map(len, lines)) <= 130


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which Claude Code recorded a session a moment ago."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LACONIC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".claude" / "projects" / "-p" / "s1.jsonl"
    file.parent.mkdir(parents=True)
    rows = []
    for number, message in enumerate([*long_session(40), {"role": "assistant", "content": "done"}]):
        said = dict(message)
        if said["role"] == "assistant":
            usage = {"input_tokens": 10, "cache_read_input_tokens": 30_000, "output_tokens": 50}
            said |= {"id": f"m{number}", "model": "claude-sonnet-4-5", "usage": usage}
        rows.append(json.dumps({"timestamp": datetime.now(UTC).isoformat(), "message": said, "cwd": "/p"}))
    file.write_text("\n".join(rows))
    return tmp_path


def test_without_a_path_the_sessions_of_this_machine_are_found(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--html", str(home / "r.html")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Last 30 days: 1 session (Claude Code 1), 41 requests."
    assert lines[1].startswith("They cost $0.40: 1.23M prompt tokens, 2.05k output tokens")
    assert "less; about" in lines[2]
    assert len(lines) <= 11
    page = (home / "r.html").read_text("utf-8")
    assert page.count("<figure") == 1
    assert "http" not in page


def test_a_page_without_a_name_lies_in_this_folder_and_a_model_without_a_price_costs_no_invented_dollars(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = home.rglob("s1.jsonl")
    file.write_text(file.read_text().replace("claude-sonnet-4-5", "mystery-1"))
    assert main(["replay", "--html"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("They took 1.23M prompt tokens")
    assert "price unknown for 1 session (mystery-1)" in lines[1]
    assert lines[-1] == "The page with each session is report.html."
    assert "<figure" in (home / "report.html").read_text("utf-8")


def test_what_a_session_would_have_cost_is_a_share_of_what_was_recorded(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And output costs the same with us."""
    assert main(["replay", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    outcome = found["replayed"]["outcome"]
    answers = 41 * 50 * 15 / 1e6
    assert found["dollars"] == pytest.approx(answers + 41 * (10 * 3 + 30_000 * 0.3) / 1e6)
    share = outcome["passed_cost"] / outcome["cost"]
    assert found["dollars_with_us"] - answers == pytest.approx((found["dollars"] - answers) * share)
    assert outcome["points"][0]["sent"] == pytest.approx(30_010, rel=0.02)


def test_sessions_that_are_too_old_or_too_short_are_no_sessions(home: Path) -> None:
    with pytest.raises(UsageError, match="No client on this machine recorded a session"):
        main(["replay", "--least", "100"])
    (file,) = home.rglob("s1.jsonl")
    old = (datetime.now(UTC) - timedelta(days=3)).timestamp()
    os.utime(file, (old, old))
    with pytest.raises(UsageError, match="No client on this machine recorded a session"):
        main(["replay", "--days", "2"])


def test_a_folder_without_sessions_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No session"):
        main(["replay", str(tmp_path)])


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_it_prints_no_character_that_steers_a_terminal(
    session: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    """A session is named by its file, and shown by what the user said first."""
    odd = session.rename(session.with_name("odd\x1b[2J\x9b1m.json"))
    held = json.loads(odd.read_text())
    held["messages"][0]["content"] = "odd\x1b[2J\x9b1m"
    odd.write_text(json.dumps(held))
    assert main(["replay", str(odd), "--policy", "ingest", *form]) == 0
    printed = capsys.readouterr().out
    assert "odd" in printed
    assert not set(printed) & set("\x1b\x9b")
