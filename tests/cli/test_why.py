"""`laconic why`: where the money of recorded sessions went."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from laconic.cli.main import main
from laconic.errors import UsageError

Json = dict[str, Any]


def _session(begun: float, pauses: dict[int, float], title: str = "Fix the login") -> list[Json]:
    """Twelve requests of a growing session, as Claude Code writes them; a pause makes one cold."""
    rows: list[Json] = []
    at = begun
    for number in range(12):
        at += pauses.get(number, 20.0)
        prompt = 20_000 + 1000 * number
        read = 0 if number in pauses or not number else prompt - 1000
        usage = {"cache_read_input_tokens": read, "cache_creation_input_tokens": prompt - read, "output_tokens": 50}
        moment = datetime.fromtimestamp(at, UTC).isoformat()
        answer = {"id": f"m{number}", "model": "claude-sonnet-4-5", "role": "assistant", "usage": usage}
        row: Json = {"isSidechain": False, "cwd": "/srv/shop", "timestamp": moment}
        rows.append({**row, "message": {"role": "user", "content": title if not number else f"next {number}"}})
        rows.append({**row, "message": {**answer, "content": [{"type": "text", "text": "done"}]}})
    return rows


def _write(path: Path, rows: list[Json]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two sessions of Claude Code, of today."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LACONIC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    now = datetime.now(UTC).timestamp()
    folder = tmp_path / ".claude" / "projects" / "-p"
    _write(folder / "aaaa.jsonl", _session(now - 20_000, {7: 1800.0, 10: 9000.0}))
    _write(folder / "bbbb.jsonl", _session(now - 5_000, {}, title="Write the manual"))
    return tmp_path


def test_causes_come_first_and_then_the_dearest_moments(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Last 30 days: 2 sessions (Claude Code 2), 24 requests, $")
    assert "paid for text that a cache had held" in lines[1]
    text = "\n".join(lines)
    assert "cold after a pause of more than an hour: pause of 2.5 h" in text
    assert "cold after a pause of more than 5 minutes: pause of 30 min" in text
    assert "Fix the login" in text
    assert "avoided by: a cache that lives an hour" in text
    assert len(lines) <= 24


def test_json_holds_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [moment["cause"] for moment in report["moments"]] == ["pause_1h", "pause_5m"]
    assert sum(total["share"] for total in report["causes"]) == pytest.approx(1)
    assert [moment["number"] for moment in report["moments"]] == [11, 8]


@pytest.mark.parametrize("target", ["bbbb", "the manual", ".claude/projects/-p/bbbb.jsonl"])
def test_a_session_is_named_by_its_id_its_title_or_its_file(
    target: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", target]) == 0
    out = capsys.readouterr().out
    assert "1 session (Claude Code 1), 12 requests" in out
    assert "No cache was lost." in out


def test_a_folder_of_files_is_taken_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", ".claude"]) == 0
    assert "2 sessions" in capsys.readouterr().out


def test_what_is_nowhere_is_refused_with_what_to_do(home: Path) -> None:
    with pytest.raises(UsageError, match="words of a title"):
        main(["why", "nonsense"])


def test_an_empty_machine_is_told_how_to_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with pytest.raises(UsageError, match="laconic wrap"):
        main(["why"])


@pytest.mark.parametrize("words", [["--days", "-5"], ["--days", "0"], ["--moments", "0"], ["--days", "x"]])
def test_numbers_that_make_no_sense_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((SystemExit, UsageError)) as refusal:
        main(["why", *words])
    said = str(refusal.value) + capsys.readouterr().err
    assert words[0] in said
    assert "above 0" in said
