"""What arguments of tools mean, for people: schemas leave it out where a name says enough to a model."""

from __future__ import annotations

from typing import Final

ARGUMENT_HELP: Final = {
    ("context", "task"): "the task in words: an issue, a bug, a feature",
    ("context", "show"): "names of symbols, their code, or both",
    ("context", "path"): "only files below this folder, or of this pattern",
    ("diff", "to"): "the later state, when the first argument names one state only",
    ("diff", "path"): "only these files or folders",
    ("diff", "view"): "changes by symbol, or as lines",
    ("inspect", "symbol"): "names such as Class.method, path::name or path:LINE",
    ("inspect", "only"): "parts to show: body, refs, callees, implementations, tests",
    ("map", "path"): "a folder or a file (default: the whole repository)",
    ("read", "targets"): "places: path, path:40-80, path::Symbol",
    ("read", "anchors"): "begin each line with a hash, for edits that name lines",
    ("report", "file"): "a report or the output of a tool",
    ("report", "severity"): "only findings that are at least this severe",
    ("report", "category"): "only findings of this category",
    ("report", "rule"): "only findings of this rule",
    ("report", "path"): "only findings below this folder, or in files of this pattern",
    ("report", "since"): "only findings in lines that changed since this revision",
    ("report", "context"): "show the lines around each finding",
    ("trace", "symbol"): "the symbol to start from",
    ("trace", "to"): "a second symbol: show the ways from the first to it",
    ("trace", "direction"): "up to callers, or down to callees",
    ("trace", "depth"): "how many calls away at most",
    ("workspace", "action"): "what to do: status, list, add, remove or refresh",
    ("workspace", "path"): "the folder that it is about (default: this one)",
}
