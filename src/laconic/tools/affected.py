"""Who depends on a change, and which tests reach it: nearest first, as commands that can be run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from laconic.index.compare.symbols import TOP, Comparison
from laconic.index.resolve import Code, covering_tests, references
from laconic.index.store import Symbol
from laconic.records import Impact, SymbolChange
from laconic.workspace.classes import class_of

MOST: Final = 10  # test files in the list
_FILES: Final = 20  # files that are named as users of one symbol
_SYMBOLS: Final = 60  # changed symbols that are followed
_TEST_WORDS: Final = re.compile(
    r"(?:^|[_.\-])(?:tests?|spec)(?=$|[_.\-])|Tests?(?=$|[._])|^Test(?=[A-Z])", re.IGNORECASE
)


def impact_of(code: Code, change: SymbolChange) -> Impact | None:
    """References to a symbol and tests that reach it; one that is gone is looked for by its name."""
    symbol = symbol_of(code, change)
    if symbol is None:
        if change.span is not None or change.name == TOP:
            return None
        found = [
            (code.sources[file].path, len(refs))
            for file, refs in code.mentions(_last(change.name))
            if file in code.sources
        ]
        return Impact(sum(count for _, count in found), tuple(path for path, _ in found[:_FILES]))
    uses = [use for use in references(code, symbol) if use.sure]
    files = tuple(dict.fromkeys(use.path for use in uses))
    reached = (test for _, test in covering_tests(code, symbol, depth=2) if test.test)
    tests = dict.fromkeys(path for test in reached if _holds_tests(path := code.sources[test.file].path))
    return Impact(len(uses), files[:_FILES], tuple(tests)[:MOST])


def symbol_of(code: Code, change: SymbolChange) -> Symbol | None:
    """The symbol as the index knows it, if the index holds the state that was compared."""
    source = code.by_path.get(change.path)
    if source is None or change.span is None or change.name == TOP:
        return None
    named = [s for s in code.outline(source.id).symbols if s.name == _last(change.name)]
    return min(named, key=lambda s: abs(s.start - change.span.start) if change.span else 0, default=None)


def reaching(code: Code, found: Comparison) -> list[str]:
    """Tests for a change: those it touches itself, those that reach it by the graph, those named after its files."""
    code.refresh()
    ranked: dict[str, tuple[int, int]] = {}
    for file in found.files:
        if file.new is not None and class_of(file.change.path) == "test":
            ranked[file.change.path] = (0, 0)
    for order, change in enumerate(_worth_following(found)):
        symbol = symbol_of(code, change)
        for distance, test in covering_tests(code, symbol, depth=3) if symbol else ():
            path = code.sources[test.file].path
            if test.test and _holds_tests(path):
                ranked[path] = min(ranked.get(path, (9, 0)), (distance, order))
    for path in _named_after(code, [file.change.path for file in found.files if file.code]):
        named = _TEST_WORDS.search(path.rpartition("/")[2]) is not None
        ranked[path] = min(ranked.get(path, (9, 0)), (1 if named else 2, 0))
    return sorted(ranked, key=lambda path: (ranked[path], path))


def tests_for(root: Path, code: Code, found: Comparison) -> str:
    """The line that says which tests to run; empty where there are none."""
    files = reaching(code, found)
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


def _holds_tests(path: str) -> bool:
    """Whether a file is one of tests; Rust keeps them beside the code."""
    return path.endswith(".rs") or class_of(path) == "test"


def _worth_following(found: Comparison) -> list[SymbolChange]:
    chosen = [c for c in found.symbols if c.changes != ("cosmetic",) and c.span is not None and not c.within]
    return sorted(chosen, key=lambda change: change.changes == ("added",))[:_SYMBOLS]


def _named_after(code: Code, paths: Iterable[str]) -> Iterable[str]:
    """Test files whose name is that of a changed file: `test_x.py`, `x.test.ts`, `x_test.go`, `XTest.java`."""
    wanted = {_plain(path) for path in paths if class_of(path) != "test"} - {
        "",
        "index",
        "mod",
        "lib",
        "main",
        "__init__",
    }
    for path in code.by_path:
        if class_of(path) == "test" and _plain(path) in wanted:
            yield path


def _plain(path: str) -> str:
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return _TEST_WORDS.sub("", stem).strip("_.-").lower()


def _last(name: str) -> str:
    return name.rpartition(".")[2]
