"""A language is one file: put beside the others, it is indexed, outlined and searched, and its uses are found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import laconic

_MADE_UP = r'''
"""Glint: functions and structures in the syntax of Go, with imports that name a file."""

from laconic.index.dialect import LanguageDialect
from laconic.index.language import Language
from laconic.index.name_meaning import FOREIGN, module
from laconic.records import Import


def _imports(node, source):
    yield Import(node.child_by_field_name("path").text.decode().strip('"'), node.start_point[0] + 1)


def _locate(code, source, name):
    found = code.by_path.get(f"{name}.glint")
    return module([found.id]) if found else FOREIGN


LANGUAGE = Language(
    name="glint",
    extensions=(".glint",),
    aliases=("gl",),
    grammar="tree_sitter_go",
    definitions="""
(function_declaration name: (identifier) @name) @function
(type_declaration (type_spec name: (type_identifier) @name) @struct)
(import_spec) @import
""",
    references="""
[(identifier) (type_identifier) (field_identifier) (package_identifier)] @id
(import_declaration) @in.import
""",
    imports=_imports,
    dialect=LanguageDialect(family="glint", types_stand_out=False, locate=_locate),
)
'''
_FILES = {
    "store.glint": "package a\n\n// Keeps a value.\nfunc keep(value string) {\n}\n\ntype Box struct {\n}\n",
    "main.glint": 'package a\n\nimport "store"\n\nfunc begin() {\n\tstore.keep("x")\n}\n',
    "other.glint": "package a\n\nfunc keep() {\n}\n\nfunc finish() {\n\tkeep()\n}\n",
}
Ask = Callable[..., str]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """The commands of a copy of the package with one more file, in a folder of the new language."""
    folder = tmp_path_factory.mktemp("glint")
    shutil.copytree(Path(laconic.__file__).parent, folder / "package" / "laconic")
    (folder / "package" / "laconic" / "index" / "languages" / "glint.py").write_text(_MADE_UP)
    for name, text in _FILES.items():
        path = folder / "code" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(folder / "package"), "LACONIC_HOME": str(folder / "home")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "laconic", *words],
            cwd=folder / "code",
            env={**environment, "XDG_CACHE_HOME": str(folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_is_indexed_under_its_name(ask: Ask) -> None:
    assert "glint" in ask("map")


def test_a_file_of_it_is_outlined(ask: Ask) -> None:
    shown = ask("map", "store.glint")
    assert "func keep(value string)" in shown
    assert "Box" in shown


def test_it_is_searched_by_name_and_by_what_people_call_it(ask: Ask) -> None:
    found = ask("search", "begin lang:gl")
    assert "main.glint" in found
    assert "no file matches" not in found


def test_its_imports_tie_a_use_to_one_of_two_definitions(ask: Ask) -> None:
    shown = ask("inspect", "store.glint::keep", "--only", "references")
    assert "main.glint" in shown
    assert "other.glint" not in shown
