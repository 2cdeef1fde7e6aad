"""`laconic replay`."""

from __future__ import annotations

import json
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


def test_it_writes_a_page_with_a_chart(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(session), "--html", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("<svg") == 3
    assert "session" in capsys.readouterr().out


def test_a_folder_without_sessions_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No session"):
        main(["replay", str(tmp_path)])


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_it_prints_no_character_that_steers_a_terminal(
    session: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    """A session is named by its file."""
    odd = session.rename(session.with_name("odd\x1b[2J\x9b1m.json"))
    assert main(["replay", str(odd), "--policy", "ingest", *form]) == 0
    printed = capsys.readouterr().out
    assert "odd" in printed
    assert not set(printed) & set("\x1b\x9b")
