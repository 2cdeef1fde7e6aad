"""Fixtures that all tests share: settings that touch no file of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.config import Settings, load


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none.toml")
