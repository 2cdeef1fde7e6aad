"""What a file is good for: source, test, vendored, generated, minified, doc, config or data."""

from __future__ import annotations

import re
from typing import Final

_VENDORED: Final = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third[-_]?party|3rdparty|external|externals|node_modules|bower_components"
    r"|site-packages|Godeps|deps|dist-packages|extern)/",
    re.IGNORECASE,
)
_TEST: Final = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|specs|testdata|fixtures?|e2e|src/test|androidTest)/"
    r"|(^|/)(test_[^/]*|[^/]*_tests?\.[^/]+|[^/]*[._-](test|spec)s?\.[^/]+|conftest\.py|[^/]+Tests?\.(java|kt|cs|swift|php|scala))$",
)
_MINIFIED_NAME: Final = re.compile(r"[.-]min\.(js|css|mjs|html)$|\.bundle\.js$|-bundle\.js$", re.IGNORECASE)
_GENERATED_NAME: Final = re.compile(
    r"(\.pb\.go|_pb2(_grpc)?\.pyi?|\.pb\.(cc|h)|\.g\.(dart|cs)|\.designer\.cs|\.generated\.[^/.]+|_generated\.[^/.]+"
    r"|\.freezed\.dart|(^|/)zz_generated[^/]*\.go|_string\.go|\.lock|(^|/)(package-lock|npm-shrinkwrap)\.json"
    r"|(^|/)(yarn\.lock|pnpm-lock\.yaml|go\.sum|Cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|Gemfile\.lock)|\.map)$"
    r"|(^|/)(generated|__generated__|autogen)/",
    re.IGNORECASE,
)
_GENERATED_HEAD: Final = re.compile(
    rb"@generated\b|DO NOT (EDIT|MODIFY)\b|[Aa]uto-?generated (by|from|file)|[Gg]enerated by the protocol buffer"
    rb"|[Tt]his (file|code) (is|was) (auto(matically)?[- ]?)?generated",
)
_DOC: Final = re.compile(
    r"\.(md|markdown|mdx|rst|adoc|asciidoc|tex|org|pod|textile)$|(^|/)docs?/.*\.(txt|html?)$"
    r"|(^|/)(readme|license|licence|copying|authors|changelog|changes|contributing|news|notice|install|todo)[^/]*$",
    re.IGNORECASE,
)
_CONFIG: Final = re.compile(
    r"\.(toml|ya?ml|json5?|jsonc|ini|cfg|conf|properties|xml|env|editorconfig|gradle|plist|lock|mod|sum)$"
    r"|(^|/)(dockerfile|makefile|\.[^/]+rc|\.git[^/]*|requirements[^/]*\.txt|cmakelists\.txt)$",
    re.IGNORECASE,
)
_DATA: Final = re.compile(
    r"\.(po|pot|csv|tsv|geojson|svg|sql\.gz|log|snap|wkt|prj|out|patch|diff|jsonl|ndjson|dat|lst)$",
    re.IGNORECASE,
)
_MINIFIED_KINDS: Final = re.compile(r"\.(m?js|cjs|css|html?)$", re.IGNORECASE)
_HEAD: Final = 1024
_LONG_LINES: Final = 300  # mean length of a line from which code counts as minified


def class_of(path: str, data: bytes = b"") -> str:
    """The class of a file, from its path and the start of its contents; the first that fits."""
    if _MINIFIED_NAME.search(path) or (_MINIFIED_KINDS.search(path) and _long_lines(data)):
        return "minified"
    if _GENERATED_NAME.search(path) or _GENERATED_HEAD.search(data[:_HEAD]):
        return "generated"
    if _VENDORED.search(path):
        return "vendored"
    if _DATA.search(path):
        return "data"
    if _DOC.search(path):
        return "doc"
    if _TEST.search(path):
        return "test"
    if _CONFIG.search(path):
        return "config"
    return "source"


def _long_lines(data: bytes) -> bool:
    return len(data) > _HEAD and len(data) / (data.count(b"\n") + 1) > _LONG_LINES
