"""The lock names every package that is needed, by version and hash, and no address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text()


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(text: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)
    return {plain(name): version for name, version in found}


def test_every_requirement_is_locked() -> None:
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {plain(re.split(r"[^\w.-]", need, maxsplit=1)[0]) for need in needs}
    assert names <= pinned(LOCK).keys()


def test_versions_are_those_that_are_tested_together() -> None:
    locked, tested = pinned(LOCK), pinned((ROOT / "constraints.txt").read_text())
    assert {name: locked[name] for name in locked.keys() & tested.keys()} == {
        name: tested[name] for name in locked.keys() & tested.keys()
    }


def test_every_package_has_hashes_and_none_an_address() -> None:
    packages = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in package for package in packages)
    assert "://" not in LOCK
