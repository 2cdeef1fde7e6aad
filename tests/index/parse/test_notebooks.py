"""Notebooks are read cell by cell, at the lines of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laconic.config import load
from laconic.index.parse.extract import parse
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools
from laconic.workspace.file_classes import class_of


def _cell(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), **more}


def _notebook(*cells: dict[str, Any], extension: str = ".py", indent: int | None = 1) -> bytes:
    information = {"codemirror_mode": {"name": "ipython"}, "file_extension": extension, "name": "x"}
    made = {"cells": list(cells), "metadata": {"language_info": information}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=indent, sort_keys=True, ensure_ascii=False).encode()


_CELLS = (
    _cell("markdown", "# Prices\n\nWhat a *basket* costs.\n"),
    _cell("code", "%matplotlib inline\nimport shop\n", outputs=[], execution_count=1),
    _cell(
        "code",
        'def total(basket):\n    """Sum \\"all\\"."""\n    return shop.price("ä", basket)\n',
        outputs=[{"output_type": "stream", "name": "stdout", "text": ["def not_code():\n", "    pass\n"]}],
    ),
    _cell("code", "%%bash\ndef() { :; }\n", outputs=[]),
    _cell("markdown", "## Use\n"),
    _cell("code", "print(total([1]))", outputs=[]),
)


def test_cells_are_code_and_headings_with_the_lines_of_the_file() -> None:
    data = _notebook(*_CELLS)
    rows = data.decode().split("\n")
    read = parse("prices.ipynb", data)
    found = {each.name: each for each in read.definitions}
    assert sorted(found) == ["Prices", "Use", "total"]
    assert found["total"].kind == "function"
    assert '"def total(basket):' in rows[found["total"].line - 1]
    assert "return shop.price" in rows[found["total"].span.end - 1]
    assert read.definitions[found["Use"].parent].name == "Prices"
    assert [(each.module, rows[each.line - 1].strip()) for each in read.imports] == [("shop", '"import shop\\n"')]


def test_uses_stand_where_the_file_has_them() -> None:
    data = _notebook(*_CELLS)
    rows = data.split(b"\n")
    uses = [use for use in parse("prices.ipynb", data).references if use.name == "total"]
    assert [rows[use.line - 1][use.column :][:5] for use in uses] == [b"total"]


def test_the_notebook_says_its_language() -> None:
    data = _notebook(_cell("code", "function total(basket) {\n  return basket.length\n}\n"), extension=".js")
    assert [each.name for each in parse("prices.ipynb", data).definitions] == ["total"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"cells": [', _notebook(*_CELLS, indent=None), b'"source": [\n"\\ud800']
)
def test_what_is_no_notebook_or_has_no_lines_of_its_own_does_no_harm(data: bytes) -> None:
    assert parse("prices.ipynb", data).language == "notebook"


def test_a_notebook_takes_part_in_the_code_around_it(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "shop.py").write_text("def price(name, basket):\n    return len(basket)\n")
    (code / "prices.ipynb").write_bytes(_notebook(*_CELLS))
    runtime = ToolRuntime(code, load(flags={"cache_dir": str(tmp_path / "cache")}), tools())
    assert "total prices.ipynb:" in runtime.call("trace", {"name": "price"}, Session()).text
    assert "def total(basket)" in runtime.call("map", {"path": "prices.ipynb"}, Session()).text
    runtime.close()
    assert class_of("prices.ipynb") == "source"
