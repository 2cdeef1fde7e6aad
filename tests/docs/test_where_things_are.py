"""The list of places in the contributors' page is true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| ([^|]+) \| `([^`|]+\.py)` \| `(\w+)` \|$", re.MULTILINE)
_ROWS = _ROW.findall((ROOT / "docs" / "contributing.md").read_text("utf-8"))


def _defined(path: Path) -> set[str]:
    """The names that a module defines itself."""
    names: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def test_thirty_one_questions_are_answered() -> None:
    assert len({question for question, _, _ in _ROWS}) == 31


@pytest.mark.parametrize(("question", "file", "name"), _ROWS, ids=[row[0] for row in _ROWS])
def test_a_named_place_exists(question: str, file: str, name: str) -> None:
    assert name in _defined(ROOT / file), question
