"""Which folders are hardly meant as a code base."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.workspace.system_folders import why_not_a_project


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/etc/ssl", "/tmp", "/var", "/proc/self", "/dev", "/opt"])
def test_systems_are_not(folder: str) -> None:
    assert why_not_a_project(Path(folder))


def test_homes_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "people" / "ann"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert "home" in why_not_a_project(home)
    assert "home" in why_not_a_project(home.parent)
    assert not why_not_a_project(home / "work")


@pytest.mark.parametrize(
    "folder", ["/srv/app", "/opt/app", "/usr/src/app", "/var/www/html", "/workspace", "/etcetera"]
)
def test_others_may_be(folder: str) -> None:
    assert not why_not_a_project(Path(folder))
