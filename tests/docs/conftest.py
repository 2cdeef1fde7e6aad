"""A shell for each page; the copy of the repository and its index are made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.docs.stage import Shell, copy


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy(tmp_path_factory.mktemp("documents"))


@pytest.fixture
def shell(prepared: Path, tmp_path: Path) -> Shell:
    home = tmp_path / "home"
    home.mkdir()
    project = tmp_path / "laconic"
    shutil.copytree(prepared, project)
    return Shell(home, project)
