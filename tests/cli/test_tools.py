"""Tools as shell commands: which workspace they mean, how they name places and next calls, how they fail."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.cli.main import main
from laconic.index import catalog


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    file = tmp_path / "config.toml"
    file.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    return ["--config", str(file)]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = shop(tmp_path)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root)
    return root


def test_a_subfolder_means_the_repository_and_places_are_named_from_it(
    repository: Path,
    given: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(repository / "shop")
    assert main(["read", *given, "money.py:13-14"]) == 0
    assert capsys.readouterr().out.startswith("[shop/money.py#")
    assert main(["read", *given, "shop/money.py:13-14"]) == 0  # as our own answers name it
    assert main(["search", *given, "total"]) == 0
    assert [root for root, _ in catalog.workspaces(tmp_path / "cache")] == [repository.resolve()]


def test_ready_calls_are_commands(repository: Path, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["search", *given, "e", "--budget", "300"])
    assert re.search(r"more: laconic search e --budget=300 --offset=\d+ --config ", capsys.readouterr().out)
    main(["search", *given, "chekout"])
    assert "try laconic search " in capsys.readouterr().out


def test_a_target_that_is_not_there_fails_and_a_folder_is_listed(
    repository: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", *given, "shop/mony.py"]) == 2
    assert "Nearest: shop/money.py" in capsys.readouterr().err
    assert main(["read", *given, "shop/mony.py", "shop/money.py:13-14"]) == 0  # what is there is shown
    assert "No file named 'shop/mony.py'" in capsys.readouterr().out
    assert main(["read", *given, "shop"]) == 0
    said = capsys.readouterr().out
    assert "money.py 18 lines\n" in said
    assert f"shop is a folder: laconic map shop {given[0]} {given[1]} tells more." in said


def test_a_file_whose_name_is_not_utf8_is_read_by_the_name_that_is_listed(
    repository: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    (repository / name).write_text("first = 1\n")
    for spelling in (name, "caf\\xe9.py"):
        assert main(["read", *given, spelling]) == 0
        assert "1\tfirst = 1" in capsys.readouterr().out


def test_recall_lists_what_was_kept_for_this_workspace(
    repository: Path,
    given: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["run", *given, "--", "echo", "here"])
    main(["run", *given, "--session", "elsewhere", "--", "echo", "there"])
    capsys.readouterr()
    monkeypatch.chdir(repository / "shop")
    main(["recall", *given])
    listed = capsys.readouterr().out
    assert "echo here" in listed
    assert "echo there" not in listed
    main(["recall", *given, "--all"])
    assert "echo there" in capsys.readouterr().out


def test_a_cache_that_cannot_be_written_is_said_by_command_and_doctor(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    config = tmp_path / "bad.toml"
    config.write_text(f'cache_dir = "{tmp_path / "taken" / "cache"}"\n')
    assert main(["search", "--config", str(config), "total"]) == 0
    assert "Set cache_dir to a folder" in capsys.readouterr().out
    assert main(["doctor", "--config", str(config)]) == 1
    assert "WARN cache folder" in capsys.readouterr().out
