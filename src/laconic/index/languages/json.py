"""JSON: keys of the two topmost levels."""

from __future__ import annotations

from typing import Final

from laconic.index.language import Language

_DEFINITIONS: Final = """
(document (object (pair key: (string (string_content) @name)) @key))
(document (object (pair value: (object (pair key: (string (string_content) @name)) @key))))
"""

LANGUAGE: Final = Language(
    name="json",
    extensions=(".json", ".jsonc", ".json5", ".webmanifest"),
    filenames=(".babelrc", ".eslintrc", ".prettierrc", "composer.lock"),
    grammar="tree_sitter_json",
    definitions=_DEFINITIONS,
    comments=(),
    most=400,
)
