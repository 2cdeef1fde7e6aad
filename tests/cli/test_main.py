"""The command line itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.cli.main import command, main, names, parser_for


@pytest.mark.parametrize("form", [["--config", "FILE"], ["--config=FILE"]])
def test_the_settings_file_may_be_named_before_the_command(
    tmp_path: Path, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    words = [word.replace("FILE", str(file)) for word in form]
    assert main([*words, "stats"]) == 0
    assert main(["stats", *words]) == 0
    assert capsys.readouterr().out == "No tool has been called yet.\n" * 2


def test_every_command_is_listed_once_and_in_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(names())
    assert lines[4] == "Start here:"
    more = lines.index("More:") if "More:" in lines else len(lines)
    assert {line.split()[0] for line in lines[more:] if line.startswith("  ")} <= {"bench"}


def test_every_option_has_help() -> None:
    for name in names():
        for action in parser_for(name, command(name))._actions:
            assert action.help, f"laconic {name}: {action.option_strings or action.dest}"
