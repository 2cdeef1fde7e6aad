"""Programs come from outside of the workspace, by whatever way the PATH leads into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.errors import CommandFailed
from laconic.workspace.programs import find_program


def program(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def test_the_first_one_outside_is_taken(root: Path, tmp_path: Path) -> None:
    inside, outside = program(root / "bin" / "tool"), program(tmp_path / "bin" / "tool")
    program(tmp_path / "later" / "tool")
    path = f"{inside.parent}:{tmp_path}/none:{outside.parent}:{tmp_path}/later"
    assert find_program("tool", root, {"PATH": path}) == str(outside)


def test_a_program_of_the_workspace_is_named_but_not_taken(root: Path, tmp_path: Path) -> None:
    """By its place, through a link to its folder, through a link to itself, and as a link that leads out."""
    inside = program(root / "bin" / "tool")
    (tmp_path / "linked").symlink_to(inside.parent)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(inside)
    (root / "out").mkdir()
    (root / "out" / "tool").symlink_to(program(tmp_path / "far" / "tool"))
    for entry in (inside.parent, tmp_path / "linked", tmp_path / "bin", root / "out"):
        with pytest.raises(CommandFailed, match="only inside the workspace"):
            find_program("tool", root, {"PATH": str(entry)})


def test_relative_entries_and_names_lead_nowhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(root / "bin" / "tool")
    program(root / "tool")
    monkeypatch.chdir(root)
    for path in (".", "", "bin", "./bin", "bin:.:"):
        with pytest.raises(CommandFailed, match="not installed"):
            find_program("tool", root, {"PATH": path})
    with pytest.raises(CommandFailed, match="not installed"):
        find_program("./tool", root, {"PATH": str(root)})


def test_what_cannot_be_run_is_passed_over(root: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "tool").chmod(0o644)
    (tmp_path / "folder" / "tool").mkdir(parents=True)
    good = program(tmp_path / "good" / "tool")
    path = f"{tmp_path}/bin:{tmp_path}/folder:{good.parent}"
    assert find_program("tool", root, {"PATH": path}) == str(good)
    assert find_program(str(good), root, {"PATH": ""}) == str(good)
