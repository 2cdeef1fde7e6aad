"""Who depends on a change, and which tests reach it: nearest first, as commands that can be run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from laconic.index.compare.symbols import TOP, Comparison
from laconic.index.resolve import Code, covering_tests, references
from laconic.records import Impact, SymbolChange
from laconic.tools.evidence import evidence, holds_tests, is_test, last_name, symbol_of
from laconic.workspace.history import changed_together

MOST: Final = 10  # test files in the list
_FILES: Final = 20  # files that are named as users of one symbol


def impact_of(code: Code, change: SymbolChange) -> Impact | None:
    """References to a symbol and tests that reach it; one that is gone is looked for by its name."""
    symbol = symbol_of(code, change)
    if symbol is None:
        if change.span is not None or change.name == TOP:
            return None
        found = [
            (code.sources[file].path, len(refs))
            for file, refs in code.mentions(last_name(change.name))
            if file in code.sources
        ]
        return Impact(sum(count for _, count in found), tuple(path for path, _ in found[:_FILES]))
    uses = [use for use in references(code, symbol) if use.sure]
    files = tuple(dict.fromkeys(use.path for use in uses))
    reached = (test for _, test in covering_tests(code, symbol, depth=2) if test.test)
    tests = dict.fromkeys(path for test in reached if holds_tests(path := code.sources[test.file].path))
    return Impact(len(uses), files[:_FILES], tuple(tests)[:MOST])


def reaching(code: Code, found: Comparison, history: Sequence[Sequence[str]] = ()) -> list[str]:
    """Tests for a change: those it touches itself, then those that most speaks for.

    `history` are the files of earlier commits. Beyond the first few only those are listed that call what changed or
    are named after it.
    """
    code.refresh()
    own = [f.change.path for f in found.files if f.new is not None and is_test(f.change.path)]
    points, sure = evidence(code, found, history)
    others = sorted((path for path in points if path not in own), key=lambda path: (-points[path], path))
    ranked = [*own, *others]
    return ranked[:MOST] + [path for path in ranked[MOST:] if path in sure or path in own]


def tests_for(root: Path, code: Code, found: Comparison) -> str:
    """The line that says which tests to run; empty where there are none."""
    files = reaching(code, found, changed_together(root))
    if not files:
        return ""
    rest = f" and {len(files) - MOST} more files" if len(files) > MOST else ""
    return "".join(f"tests: {command}{rest}\n" for command in commands(root, files[:MOST]))


def commands(root: Path, files: Sequence[str]) -> list[str]:
    """Commands of the project's runners for some test files."""
    made = []
    python = [path for path in files if path.endswith(".py")]
    if python:
        made.append(f"pytest {' '.join(python)}")
    script = [path for path in files if re.search(r"\.[cm]?[jt]sx?$", path)]
    if script:
        made.append(f"{_script_runner(root)} {' '.join(script)}")
    go = dict.fromkeys(f"./{path.rpartition('/')[0]}".rstrip("/") for path in files if path.endswith(".go"))
    if go:
        made.append(f"go test {' '.join(go)}")
    rust = [path for path in files if path.endswith(".rs")]
    if rust:
        whole = dict.fromkeys(f"--test {Path(path).stem}" for path in rust if "tests/" in path)
        made.append(f"cargo test {' '.join(whole)}".strip())
    java = [Path(path).stem for path in files if path.endswith((".java", ".kt", ".groovy", ".scala"))]
    if java:
        gradle = any((root / name).is_file() for name in ("build.gradle", "build.gradle.kts"))
        names = " ".join(f"--tests '*{name}'" for name in java)
        made.append(f"gradle test {names}" if gradle else f"mvn test -Dtest={','.join(java)}")
    ruby = [path for path in files if path.endswith(".rb")]
    if ruby:
        made.append(
            f"bundle exec {'rspec' if any('spec' in path for path in ruby) else 'ruby -Itest'} {' '.join(ruby)}"
        )
    return made


def _script_runner(root: Path) -> str:
    try:
        text = (root / "package.json").read_text("utf-8", "replace")
    except OSError:
        return "npx jest"
    return next(
        (f"npx {name}" for name in ("vitest run", "jest", "mocha", "ava") if f'"{name.split()[0]}"' in text),
        "npm test --",
    )
