"""Symbols that share a line: only the one that changed is reported, and a header says so itself."""

from __future__ import annotations

import pytest

from laconic.index.compare.symbols import compare
from laconic.records import FileChange


def changed(old: str, new: str, path: str = "P.java") -> dict[str, tuple[str, ...]]:
    hunks = ()
    change = FileChange(path, "changed", old=old.encode(), new=new.encode(), hunks=hunks)
    return {symbol.name: symbol.changes for symbol in compare([change]).symbols}


@pytest.mark.feature("C3")
def test_an_untouched_neighbour_on_a_shared_line_is_not_reported() -> None:
    """`int x = 1; int y = 2;`"""
    old = "class P {\n    int x = 1; int y = 2;\n}\n"
    assert changed(old, old.replace("x = 1", "x = 5")) == {"P.x": ("body",)}
    assert changed(old, old.replace("int y", "long y")).keys() == {"P.y"}


@pytest.mark.feature("C3", "J10")
def test_a_component_that_is_added_to_a_record_changes_the_signature_of_the_record() -> None:
    found = changed("record P(int x) {\n}\n", "record P(int x, int y) {\n}\n")
    assert found["P"] == ("signature",)
    assert found.get("P.y", ("added",)) == ("added",)
    assert "P.x" not in found


@pytest.mark.feature("C3")
def test_untouched_methods_on_the_line_of_a_changed_header_are_not_reported() -> None:
    old = "class Point { int x() { return 1; } int y() { return 2; } }\n"
    new = old.replace("class Point", "final class Point implements Shape")
    assert changed(old, new) == {"Point": ("signature",)}
    assert changed(old, new.replace("return 2", "return 3")) == {"Point": ("signature",), "Point.y": ("body",)}
    one = "enum Color { RED; int code() { return 1; } }\n"
    assert changed(one, one.replace("Color", "Color implements Paint")) == {"Color": ("signature",)}
