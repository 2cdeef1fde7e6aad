"""What speaks for running a test file after a change: calls, words, history, names, places. Says how much, not which.

No kind of evidence finds all tests: calls miss what is reached through data, words what is said otherwise, history
what is new. So each gives a test at most about one point, less where many tests share it, and the points are added.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from laconic.index.compare.symbols import TOP, ComparedFile, Comparison
from laconic.index.languages import dialect_of
from laconic.index.resolve import Code, related_tests
from laconic.index.store import Symbol
from laconic.records import SymbolChange
from laconic.workspace.file_classes import class_of

_SYMBOLS: Final = 60  # changed symbols that are followed
_PATIENCE: Final = 2.0  # seconds of computing for following them
_WORDS: Final = 150  # words of the changed lines that are looked up
_COMMON: Final = 0.25  # share of the tests above which a word says nothing
_STRANGE: Final = 0.3  # for a name that the project does not define: a local one, or of a library
_TELLING: Final = 3  # names that no other test uses, for a whole point
_LEAST: Final = 0.3  # points below which a test is not worth running for a change
_ALIKE: Final = 0.3  # for names that share words
_NEAR: Final = 0.2  # for places that share folders
_CODE: Final = re.compile(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|java|kts?|groovy|scala|rb|php|cs|swift|c|cc|cpp|lua|zig|exs?)$"
)
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]{2,}")
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TEST_WORDS: Final = re.compile(
    r"(?:^|[_.\-])(?:tests?|spec)(?=$|[_.\-])|Tests?(?=$|[._])|^Test(?=[A-Z])", re.IGNORECASE
)
_NAMELESS: Final = frozenset({"", "index", "mod", "lib", "main", "__init__"})
_LAYOUT: Final = frozenset(
    {"test", "tests", "testing", "spec", "specs", "__tests__", "src", "main", "java", "kotlin", "lib"}
)

Points = Mapping[str, float]


def evidence(code: Code, found: Comparison, history: Sequence[Sequence[str]]) -> tuple[dict[str, float], set[str]]:
    """Points for every test file that anything speaks for, and which of them are sure: called from, or named after."""
    changed = []
    for file in found.files:
        if file.code and class_of(file.change.path) != "test":
            changed.append(file)
    if not changed:
        return {}, set()
    paths = [file.change.path for file in changed]
    tests = _find_tests(code, changed)
    before = set()
    for file in changed:
        for path in (file.change.path, file.change.old_path):
            if path:
                before.add(path)
    calls, names = _calls(code, found), _find_tests_named_after(tests, paths)
    points: dict[str, float] = {}
    for part in (calls, names, _words(code, changed, found, tests), _together(history, before, tests)):
        for path, value in part.items():
            points[path] = points.get(path, 0.0) + value
    known = [_name_parts(path) for path in paths]
    for path in tests:
        near = max(_nearness(path, one) for one in paths)
        if path in points or near == 1:
            if path in names:
                alike = 0.0
            else:
                alike = max(_overlap(_name_parts(path), one) for one in known)
            points[path] = points.get(path, 0.0) + _NEAR * near + _ALIKE * alike
    sure = {*calls, *names}
    return {path: value for path, value in points.items() if path in sure or value >= _LEAST}, sure


def _find_tests(code: Code, changed: Iterable[ComparedFile]) -> set[str]:
    """The test files in the languages of what changed."""
    families = set()
    for file in changed:
        for side in (file.old, file.new):
            if side:
                families.add(dialect_of(side.parsed.language).family)
    tests = set()
    for path, source in code.by_path.items():
        if source.file_class == "test" and source.dialect.family in families and _CODE.search(path):
            tests.add(path)
    return tests


def symbol_of(code: Code, change: SymbolChange) -> Symbol | None:
    """The symbol as the index knows it, if the index holds the state that was compared."""
    source = code.by_path.get(change.path)
    if source is None or change.span is None or change.name == TOP:
        return None
    named = []
    for s in code.outline(source.id).symbols:
        if s.name == last_name(change.name):
            named.append(s)
    return min(named, key=lambda s: abs(s.start - change.span.start) if change.span else 0, default=None)


def last_name(name: str) -> str:
    return name.rpartition(".")[2]


def is_test(path: str) -> bool:
    """Whether a file can be given to a runner; what tests read does not count."""
    return class_of(path) == "test" and _CODE.search(path) is not None


def holds_tests(path: str) -> bool:
    """Whether a file is one of tests; Rust keeps them beside the code."""
    return path.endswith(".rs") or class_of(path) == "test"


def has_tests(code: Code, path: str) -> bool:
    """Whether a runner finds something to run in a file of tests: not in what they share, nor in what they read."""
    source = code.by_path.get(path)
    if source is None or _TEST_WORDS.search(path.rpartition("/")[2]):
        return True
    return any(symbol.test for symbol in code.outline(source.id).symbols)


def _calls(code: Code, found: Comparison) -> Points:
    """Tests that call what changed, directly or through others; what many tests call says little about each."""
    until = time.thread_time() + _PATIENCE
    reached: list[dict[str, int]] = []
    for change in _worth_following(found):
        symbol = symbol_of(code, change)
        if symbol is None or time.thread_time() > until:
            continue
        nearest: dict[str, int] = {}
        for distance, test in related_tests(code, symbol, depth=3):
            path = code.sources[test.file].path
            if test.test and holds_tests(path):
                nearest[path] = min(nearest.get(path, distance), distance)
        if nearest:
            reached.append(nearest)
    points: dict[str, float] = {}
    for nearest in reached:
        for path, distance in nearest.items():
            share = 1 / (distance * math.sqrt(len(nearest) * len(reached)))
            points[path] = points.get(path, 0.0) + share
    return points


def _worth_following(found: Comparison) -> list[SymbolChange]:
    chosen = []
    for c in found.symbols:
        if c.changes != ("cosmetic",) and c.span is not None and not c.within:
            chosen.append(c)
    chosen = [c for c in chosen if class_of(c.path) != "test"]
    return sorted(chosen, key=lambda change: change.changes == ("added",))[:_SYMBOLS]


def _words(code: Code, changed: Sequence[ComparedFile], found: Comparison, tests: set[str]) -> Points:
    """Tests that use the names on the changed lines, and those of the changed symbols; rare names say more."""
    lines = (line[1:] for file in changed for hunk in file.change.hunks for line in hunk.body if line[:1] in "+-")
    symbols = (last_name(c.name) for c in found.symbols if c.name != TOP and class_of(c.path) != "test")
    wanted = dict.fromkeys(word for text in (*symbols, *lines) for word in _WORD.findall(text))
    points: dict[str, float] = {}
    for word in list(wanted)[:_WORDS]:
        files = (code.sources[file].path for file in code.store.files_mentioning(word) if file in code.sources)
        users = [path for path in files if path in tests]
        if len(users) <= _COMMON * len(tests) + 1:
            told = 0.0
            if users:
                told = math.log(1 + len(tests) / len(users))
            told *= 1.0 if code.find_named(word) else _STRANGE
            for path in users:
                points[path] = points.get(path, 0.0) + told
    return _to_one(points, _TELLING * math.log(1 + len(tests)))


def _together(history: Sequence[Sequence[str]], changed: set[str], tests: set[str]) -> Points:
    """Tests that changed in the same commits as the changed files; small commits say more."""
    points: dict[str, float] = {}
    for files in history:
        if hits := len(changed.intersection(files)):
            for path in tests.intersection(files):
                points[path] = points.get(path, 0.0) + hits / math.sqrt(len(files))
    return _to_one(points, 1.0)


def _to_one(points: Points, whole: float) -> Points:
    """Points of which the most is one, or less where even the most is less than a whole."""
    if points:
        most = max(*points.values(), whole)
    else:
        most = whole
    found = {}
    for path, value in points.items():
        found[path] = value / most
    return found


def _find_tests_named_after(tests: Iterable[str], paths: Iterable[str]) -> Points:
    """Test files whose name is that of a changed file: `test_x.py`, `x.test.ts`, `x_test.go`, `XTest.java`."""
    wanted = {_plain(path) for path in paths} - _NAMELESS
    found = {}
    for path in tests:
        if _plain(path) in wanted:
            found[path] = 1.0
    return found


def _plain(path: str) -> str:
    return _TEST_WORDS.sub("", _stem(path)).strip("_.-").lower()


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _name_parts(path: str) -> set[str]:
    found: set[str] = set()
    for part in _PARTS.findall(_TEST_WORDS.sub("", _stem(path))):
        found.add(part.lower())
    return found


def _overlap(one: set[str], other: set[str]) -> float:
    if one and other:
        return len(one & other) / len(one | other)
    return 0.0


def _nearness(path: str, other: str) -> float:
    """How much of the way down two files go together, not counting folders that only say what is code and what tests.

    Two files at the top of their parts have no way in common unless they lie in the same folder.
    """
    one, two = (each.split("/")[:-1] for each in (path, other))
    if one == two:
        return 1.0
    one, two = ([name for name in folders if name not in _LAYOUT] for folders in (one, two))
    together = 0
    while together < min(len(one), len(two)) and one[together] == two[together]:
        together += 1
    return together / max(len(one), len(two), 1)
