"""`laconic edit` from a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.edits.source import split
from laconic.errors import EditRefused, UsageError


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    return file


@pytest.mark.feature("P5")
def test_edit_and_undo(tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    tag = split(b"one\ntwo\n").tag
    given = ["--config", str(config), "--root", str(root)]
    assert main(["edit", *given, f'{{"path": "a.txt", "tag": "{tag}", "start": 2, "text": "zwei"}}']) == 0
    assert (root / "a.txt").read_text() == "one\nzwei\n"
    assert "2\tzwei" in capsys.readouterr().out
    assert main(["edit", *given, "--undo"]) == 0
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    with pytest.raises(EditRefused, match="no edit to undo"):
        main(["edit", *given, "--undo"])


@pytest.mark.parametrize("text", ["{", "5", "[5]"])
def test_what_is_no_edit_is_a_usage_error(tmp_path: Path, config: Path, text: str) -> None:
    with pytest.raises(UsageError):
        main(["edit", "--config", str(config), "--root", str(tmp_path), text])


def test_the_lines_that_a_refusal_printed_may_be_edited_next(tmp_path: Path, config: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    given = ["edit", "--config", str(config), "--root", str(root)]
    with pytest.raises(EditRefused, match="2\ttwo"):
        main([*given, '{"path": "a.txt", "tag": "123456", "start": 2, "text": "zwei"}'])
    tag = split(b"one\ntwo\n").tag
    assert main([*given, f'{{"tag": "{tag}", "start": 2, "text": "zwei"}}']) == 0
