"""Folders that are a whole machine, home or system rather than a code base."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

_SYSTEM: Final = frozenset(
    {
        "/bin", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/root", "/run", "/sbin", "/srv", "/tmp", "/usr",
        "/usr/bin", "/usr/include", "/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/var", "/var/cache",
        "/var/lib", "/var/log", "/var/tmp", "/Applications", "/Library", "/System", "/Users", "/Volumes", "/private",
        "/private/tmp", "/private/var",
    }
)  # fmt: skip
_ALL_BELOW: Final = ("/boot", "/dev", "/etc", "/private/etc", "/proc", "/sys")
_WINDOWS: Final = frozenset({"windows", "program files", "program files (x86)", "programdata", "users"})


def why_not_a_project(root: Path) -> str:
    """Why a folder is hardly meant as a workspace; nothing where it may be one."""
    root = root.resolve()
    home = Path.home().resolve()
    if root == Path(root.anchor):
        return "it is the root of a file system"
    if root == home or root in home.parents:
        return "it holds a whole home folder"
    if root == Path(tempfile.gettempdir()).resolve():
        return "it holds everybody's temporary files"
    place = root.as_posix()
    below = any(place == folder or place.startswith(f"{folder}/") for folder in _ALL_BELOW)
    system = root.drive and root.parent == Path(root.anchor) and root.name.lower() in _WINDOWS
    if below or system or place in _SYSTEM:
        return "it belongs to the system"
    return ""
