"""A symbol is found by the ways in which people and agents name it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laconic.index.resolve import Code, find_symbol

Repository = Callable[[dict[str, str]], Code]

FILES = {
    "app/one.py": "class Box:\n    def open_lid(self):\n        pass\n\n\ndef open_lid():\n    pass\n",
    "app/two.py": "def open_lid():\n    pass\n",
    "tests/test_one.py": "def open_lid():\n    pass\n",
}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Box", ("app/one.py", "Box")),
        ("Box.open_lid", ("app/one.py", "Box.open_lid")),
        ("Box::open_lid()", ("app/one.py", "Box.open_lid")),
        ("app/two.py::open_lid", ("app/two.py", "open_lid")),
        ("one.py::Box.open_lid", ("app/one.py", "Box.open_lid")),
        ("app.two.open_lid", ("app/two.py", "open_lid")),
        ("app/one.py:3", ("app/one.py", "Box.open_lid")),
        ("openLid", ("app/one.py", "open_lid")),
        ("`open_lid`", ("app/one.py", "open_lid")),
    ],
)
def test_a_symbol_is_found_by(repository: Repository, text: str, first: tuple[str, str]) -> None:
    code = repository(FILES)
    found = find_symbol(code, text)[0]
    assert (code.sources[found.file].path, found.qualified) == first


@pytest.mark.parametrize("text", ["", "nowhere", "Box.nowhere", "Crate.open_lid", "missing.py::Box", "::"])
def test_what_does_not_exist_is_not_found(repository: Repository, text: str) -> None:
    assert find_symbol(repository(FILES), text) == []


def test_tests_come_after_the_code(repository: Repository) -> None:
    code = repository(FILES)
    assert code.sources[find_symbol(code, "open_lid")[-1].file].path == "tests/test_one.py"


def test_an_overload_is_named_by_what_it_takes(repository: Repository) -> None:
    code = repository({"A.java": "class A {\n  void add(int a) {}\n  void add(String a, int b) {}\n}\n"})
    assert [each.line for each in find_symbol(code, "A.add(String, int)")] == [3]
    assert [each.line for each in find_symbol(code, "add(int)")] == [2]
    assert len(find_symbol(code, "A.add")) == 2


def test_a_body_comes_before_its_declaration(repository: Repository) -> None:
    code = repository({"a.h": "int run(int a);\n", "b/long/way/off.c": "int run(int a) {\n  return a;\n}\n"})
    assert [code.sources[each.file].path for each in find_symbol(code, "run")] == ["b/long/way/off.c", "a.h"]
