"""A small repository made of texts, indexed and ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laconic.index.resolve import Code
from laconic.index.workspace_index import Index

Repository = Callable[[dict[str, str]], Code]


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    """Write files, index them, hand out the code; a second call adds to the first."""
    opened: list[Index] = []

    def make(files: dict[str, str]) -> Code:
        for name, text in files.items():
            path = tmp_path / "repository" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if not opened:
            opened.append(Index.open(tmp_path / "repository", tmp_path / "cache"))
        opened[0].build()
        return Code(opened[0].store, opened[0].root)

    yield make
    for index in opened:
        index.close()
