"""Languages that are read by lines alone: enough to find a definition, not to follow its uses."""

from __future__ import annotations

from typing import Final

from laconic.index.declared_types import read_result_after_parameters, read_type_after_colon
from laconic.index.dialect import LanguageDialect
from laconic.index.language import Language
from laconic.index.languages.c import C_DIALECT
from laconic.index.languages.kotlin import KOTLIN

_TABLE: Final = (
    ("clojure", ".clj .cljs .cljc"),
    ("crystal", ".cr"),
    ("d", ".d"),
    ("dart", ".dart"),
    ("elixir", ".ex .exs"),
    ("erlang", ".erl .hrl"),
    ("fortran", ".f90 .f95 .f03"),
    ("fsharp", ".fs .fsi .fsx"),
    ("gdscript", ".gd"),
    ("groovy", ".groovy"),
    ("haskell", ".hs"),
    ("julia", ".jl"),
    ("nim", ".nim"),
    ("objc", ".m .mm"),
    ("ocaml", ".ml .mli"),
    ("pascal", ".pas .pp"),
    ("perl", ".pl .pm"),
    ("powershell", ".ps1 .psm1"),
    ("protobuf", ".proto"),
    ("r", ".r"),
    ("scala", ".scala .sc .sbt"),
    ("solidity", ".sol"),
    ("swift", ".swift"),
    ("tcl", ".tcl"),
    ("vb", ".vb"),
)

_SWIFT: Final = LanguageDialect(
    family="swift",
    me=frozenset({"self", "Self"}),
    bare_members=True,
    shared="all",
    open_types=True,
    read_result=read_result_after_parameters,
    read_type=read_type_after_colon,
)
_DART: Final = LanguageDialect(
    family="dart",
    bare_members=True,
    shared="all",
    read_result=read_result_after_parameters,
)
_DIALECTS: Final = {"dart": _DART, "groovy": KOTLIN, "objc": C_DIALECT, "scala": KOTLIN, "swift": _SWIFT}
_PATTERNS: Final = {
    "elixir": (
        ("macro", r"[ \t]*(?:defmacrop|defguardp?)[ \t]+(?P<name>\w+[?!]?)"),
        ("function", r"[ \t]*defdelegate[ \t]+(?P<name>\w+[?!]?)"),
        ("interface", r"[ \t]*defprotocol[ \t]+(?P<name>[\w.]+)"),
    ),
    "haskell": (
        ("function", r"(?P<name>[a-z_][\w']*)[ \t]*::"),
        ("type", r"(?:data|newtype)[ \t]+(?:instance[ \t]+)?(?:.*=>[ \t]*)?(?P<name>[A-Z][\w']*)"),
        ("interface", r"class[ \t]+(?:.*=>[ \t]*)?(?P<name>[A-Z][\w']*)"),
    ),
    "swift": (("class", r"[ \t]*(?:(?:[a-z]+|@\w+)[ \t]+)*actor[ \t]+(?P<name>[A-Z]\w*)"),),
}
_TAILS: Final = frozenset({"scala", "elixir"})

LANGUAGES: Final = tuple(
    Language(
        name=name,
        extensions=tuple(suffixes.split()),
        tail_returns=name in _TAILS,
        dialect=_DIALECTS.get(name),
        line_patterns=_PATTERNS.get(name, ()),
    )
    for name, suffixes in _TABLE
)
