"""Completion scripts are made from the commands themselves, and shells accept them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from laconic.cli.commands.completion import script
from laconic.cli.main import names


def _complete(words: str, tmp_path: Path) -> list[str]:
    """What bash offers after these words."""
    file = tmp_path / "laconic.bash"
    file.write_text(script("bash"), "utf-8")
    asked = (
        f'source {file}; COMP_WORDS=({words} ""); COMP_CWORD={len(words.split())}; _laconic; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-ec", asked], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_first_word_is_a_command(tmp_path: Path) -> None:
    offered = _complete("laconic", tmp_path)
    assert set(names()) <= set(offered)


def test_a_command_offers_its_options_and_choices(tmp_path: Path) -> None:
    offered = _complete("laconic setup", tmp_path)
    assert {"--remove", "--project", "claude", "codex"} <= set(offered)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(shell: str, tmp_path: Path) -> None:
    text = script(shell)
    assert all(name in text for name in names())
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(text, "utf-8")
    subprocess.run([shell, "-n", str(file)], check=True)
