"""Find the programs that Laconic starts: on the PATH, never inside the workspace, where a repository could put them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from laconic.config import child_environment
from laconic.errors import CommandFailed

_WINDOWS: Final = os.name == "nt"
_LOCAL: Final = ("node_modules/.bin", ".venv/bin", "venv/bin")  # where projects keep tools of their own


def find_program(
    name: str,
    workspace: Path,
    environment: Mapping[str, str] | None = None,
    *,
    fix: str = "Install it outside of the workspace.",
) -> str:
    """The full path of a program; an error where there is none, or where all lie in the workspace or lead there.

    A path that someone wrote out is taken as it is. `fix` says what to do where the workspace has the only one.
    """
    if Path(name).is_absolute():
        return name
    inside = None
    if Path(name).name == name:
        for found in _on_path(name, environment):
            if not is_within(found, workspace):
                return str(found)
            inside = inside or found
    inside = inside or next((file for folder in _LOCAL if _is_program(file := workspace / folder / name)), None)
    if inside is not None:
        raise CommandFailed(f"{name} exists only inside the workspace ({inside}) and is not run from there.", fix)
    raise CommandFailed(f"{name} is not installed.", "Install it, and make sure that it is on the PATH.")


def is_within(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, by its place or by where its links lead."""
    top = folder.resolve()
    places = (path.parent.resolve() / path.name, path.resolve())
    return any(place == top or top in place.parents for place in places)


def _on_path(name: str, environment: Mapping[str, str] | None) -> Iterator[Path]:
    """Executable files of that name; relative entries of the PATH mean the current folder, and are passed over."""
    variables = environment
    if variables is None:
        variables = child_environment()
    if _WINDOWS:
        suffixes = variables.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";")
    else:
        suffixes = [""]
    for entry in variables.get("PATH", os.defpath).split(os.pathsep):
        if not Path(entry).is_absolute():
            continue
        for suffix in suffixes:
            file = Path(entry, name if name.lower().endswith(suffix.lower()) else name + suffix)
            if _is_program(file):
                yield file


def _is_program(file: Path) -> bool:
    try:
        return file.is_file() and os.access(file, os.X_OK)
    except (OSError, ValueError):
        return False
