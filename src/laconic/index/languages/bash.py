"""Shell scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(function_definition name: (word) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @variable))
(command name: (command_name) @_word argument: (_) @_path (#any-of? @_word "source" ".")) @import
"""

_REFERENCES: Final = """
(command name: (command_name (word) @id @call))
(simple_expansion (variable_name) @id @read)
(expansion (variable_name) @id @read)
(function_definition body: (_ (declaration_command (variable_assignment name: (variable_name) @local))))
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    path = node.child_by_field_name("argument")
    if path is not None:
        yield Import((path.text or b"").decode("utf-8", "replace").strip("\"'"), node.start_point[0] + 1)


LANGUAGE: Final = Language(
    name="bash",
    aliases=("sh", "shell"),
    leaving='((command name: (command_name) @return) (#any-of? @return "return" "exit"))',
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
    filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
    shebangs=("bash", "sh", "zsh", "dash", "ksh"),
    grammar="tree_sitter_bash",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    comments=("#",),
    ignored=frozenset(
        [
            ".",
            "source",
            "alias",
            "echo",
            "cd",
            "set",
            "exit",
            "return",
            "local",
            "export",
            "printf",
            "test",
            "true",
            "false",
            "shift",
            "eval",
        ]
    ),
)
