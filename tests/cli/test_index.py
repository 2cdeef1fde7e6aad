"""`laconic index` and `laconic doctor` from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.errors import Unreadable, UsageError
from laconic.index import catalog
from laconic.index.scip.messages import parse
from laconic.index.store.statistics import read_statistics_of_file


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    file = tmp_path / "config.toml"
    file.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    return ["--config", str(file)]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    code = tmp_path / "code"
    code.mkdir()
    (code / "a.py").write_text("class Shop:\n    pass\n")
    return code


def test_index_prints_the_numbers(code: Path, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", *given, str(code)]) == 0
    assert "1 file (1 parsed, 0 skipped, 0 failed), 1 symbol, 2 lines" in capsys.readouterr().out
    assert main(["index", *given, "--json", str(code)]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["symbols"], numbers["languages"], numbers["outcome"]["written"]) == (1, {"python": 1}, 0)
    assert main(["index", *given, "--json", "--rebuild", str(code)]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"]["written"] == 1


def test_index_writes_scip(code: Path, given: list[str], tmp_path: Path) -> None:
    file = tmp_path / "ours.scip"
    assert main(["index", *given, "--scip", str(file), str(code)]) == 0
    (document,) = parse("Index", file.read_bytes()).documents
    (occurrence,) = document.occurrences
    assert (document.relative_path, list(occurrence.range), occurrence.symbol_roles) == ("a.py", [0, 6, 10], 1)
    assert occurrence.symbol == "laconic . . . `a.py`/Shop#"
    with pytest.raises(Unreadable, match="cannot be written"):
        main(["index", *given, "--scip", str(tmp_path / "none" / "ours.scip"), str(code)])


def test_a_missing_folder_is_an_error(tmp_path: Path, given: list[str]) -> None:
    with pytest.raises(Unreadable, match="not a folder"):
        main(["index", *given, str(tmp_path / "none")])


def test_the_doctor_says_how_the_index_stands(
    code: Path, given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *given, str(code)]) == 0
    assert f"none yet: the first question builds it. Run `laconic index {code}`" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()  # it changes nothing
    main(["index", *given, str(code)])
    assert main(["doctor", *given, str(code)]) == 0
    assert "every file is up to date" in capsys.readouterr().out
    (code / "a.py").write_text("x = 1\n")
    main(["doctor", *given, str(code)])
    assert "1 file changed; the next question brings the index up to date" in capsys.readouterr().out


def test_the_doctor_sees_a_damaged_index(
    code: Path, given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", *given, str(code)])
    file = catalog.place(tmp_path / "cache", code)
    data = bytearray(file.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 2000] = b"\xff" * 2000
    file.write_bytes(data)
    capsys.readouterr()
    assert main(["doctor", *given, str(code)]) == 1
    assert "WARN" in capsys.readouterr().out


@pytest.mark.feature("U9")
def test_several_workspaces_are_kept_apart(code: Path, given: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other" / "code"
    other.mkdir(parents=True)
    (other / "b.py").write_text("def one(): pass\ndef two(): pass\n")
    for folder in (code, other):
        main(["index", *given, str(folder)])
    cache = tmp_path / "cache"
    found = {str(root): read_statistics_of_file(file, root).symbols for root, file in catalog.workspaces(cache)}
    assert found == {str(code): 1, str(other): 2}
    catalog.forget(cache, code)
    assert [root for root, _ in catalog.workspaces(cache)] == [other]
    assert (code / "a.py").exists()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with one file in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "a.py").write_text("class Shop:\n    pass\n")
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_a_folder_that_is_no_project_is_a_question_first(
    given: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (str(home), "/"):
        with pytest.raises(UsageError, match="--yes"):
            main(["index", *given, folder])
        assert main(["search", *given, "Shop", "--root", folder]) == 2
        assert "--yes" in capsys.readouterr().err
    assert not (tmp_path / "cache" / "index").exists()


def test_yes_answers_it_once_and_for_all(given: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", *given, "--yes", str(home)]) == 0
    assert main(["index", *given, "--rebuild", str(home)]) == 0
    assert main(["search", *given, "Shop", "--root", str(home)]) == 0
    assert "class Shop" in capsys.readouterr().out
