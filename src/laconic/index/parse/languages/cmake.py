"""CMake: functions, targets and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.parse.language import Language
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(function_def (function_command (argument_list . (argument) @name)) (body) @body) @function
(macro_def (macro_command (argument_list . (argument) @name)) (body) @body) @macro
(normal_command (identifier) @_word (argument_list . (argument) @name) (#any-of? @_word "set" "option" "SET")) @variable
(normal_command (identifier) @_word (argument_list . (argument) @name) (#any-of? @_word "add_library" "add_executable" "add_custom_target" "project")) @module
(normal_command (identifier) @_word (#any-of? @_word "include" "find_package" "add_subdirectory")) @import
"""

_REFERENCES: Final = """
(normal_command (identifier) @id @call)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    inside = (node.text or b"").decode("utf-8", "replace").partition("(")[2].strip(") \n").split()
    if inside:
        yield Import(inside[0].strip('"'), node.start_point[0] + 1)


LANGUAGE: Final = Language(
    name="cmake",
    extensions=(".cmake",),
    filenames=("CMakeLists.txt",),
    grammar="tree_sitter_cmake",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    comments=("#",),
)
