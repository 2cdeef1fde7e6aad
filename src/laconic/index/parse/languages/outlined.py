"""Languages that are read by lines alone: enough to find a definition, not to follow its uses."""

from __future__ import annotations

from typing import Final

from laconic.index.parse.language import Language

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

LANGUAGES: Final = tuple(Language(name=name, extensions=tuple(suffixes.split())) for name, suffixes in _TABLE)
