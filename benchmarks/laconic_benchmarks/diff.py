"""Changes by symbol against an independent count, on commits of public repositories.

The truth is made from `git diff -U0` and the two parses alone: a changed line belongs to the innermost symbol around
it; a symbol of both sides changed when it holds such a line and its own text differs; one without a namesake came or
went. Renames are pairs that came and went whose lines are nearly equal.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from laconic.errors import Unreadable
from laconic.index.compare.symbols import TOP, Comparison, compare
from laconic.index.parse import parse
from laconic.records import Definition, FileChange, SymbolChange
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.tool_runtime.compose import compose
from laconic.tools.diff import by_symbol, records
from laconic.workspace.git import git
from laconic.workspace.revisions import ComparedStates, changes, states
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_REPOSITORIES: Final = {
    "pallets+flask": "python",
    "psf+requests": "python",
    "spf13+cobra": "go",
    "preactjs+preact": "javascript",
    "tokio-rs+axum": "rust",
    "google+gson": "java",
}
_COMMITS: Final = 15  # of each repository
_RENAMING: Final = 6  # and so many that speak of renaming
_FILES: Final = 25  # files of code in one commit at most
_LARGE: Final = ("caddyserver+caddy", 300)  # the speed of a large diff: a repository, and at least so many files
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NEARLY: Final = 0.8
_UNLIMITED: Final = 10_000_000

Name = tuple[str, str]  # path and qualified name


@dataclass(slots=True)
class _Tally:
    """One language's figures."""

    commits: int = 0
    symbols: int = 0
    missing: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)
    renames: int = 0
    renames_found: int = 0
    full_bytes: int = 0
    compact_bytes: int = 0
    full_tokens: int = 0
    text_tokens: int = 0


def run(options: Options) -> Report:
    """Every repository that is there."""
    folder = Path(options.mirror)
    count = counter()
    tallies: dict[str, _Tally] = {}
    for name, language in _REPOSITORIES.items():
        if (folder / name / "repo").is_dir():
            tally = tallies.setdefault(language, _Tally())
            for commit in measured_commits(folder / name / "repo"):
                _measure(folder / name / "repo", commit, tally, count)
    if not tallies:
        raise Unreadable(
            f"{folder} holds none of: {', '.join(_REPOSITORIES)}.",
            "Clone them there, bare, or name another folder in the setting `bench.mirror`.",
        )
    every = list(tallies.values())
    return Report(
        name="diff",
        corpus=f"{sum(t.commits for t in every)} commits in {len(tallies)} languages of {', '.join(_REPOSITORIES)}",
        tokenizer=count.name,
        rows=tuple(_row(language, tally) for language, tally in tallies.items()),
        bars=(
            at_least("commits", sum(t.commits for t in every), 60),
            at_most("changed symbols missing", sum(len(t.missing) for t in every), 0),
            at_most("untouched symbols reported", sum(len(t.untouched) for t in every), 0),
            at_least("renames found", _share(every, "renames_found", "renames"), 0.9),
            at_least("bytes saved by compact JSON", 1 - _share(every, "compact_bytes", "full_bytes"), 0.69),
            at_least("tokens saved by text", 1 - _share(every, "text_tokens", "full_tokens"), 0.75),
            at_most("time against git and a bare parse", _speed(folder), 10),
        ),
        notes=tuple(f"missing {m}" for t in every for m in t.missing[:10])
        + tuple(f"untouched {m}" for t in every for m in t.untouched[:10]),
        versions=versions("tree-sitter"),
    )


def repositories() -> dict[str, str]:
    """The repositories that changes are measured on, with their languages."""
    return dict(_REPOSITORIES)


def _share(tallies: Sequence[_Tally], part: str, whole: str) -> float:
    parts, wholes = ([int(getattr(tally, name)) for tally in tallies] for name in (part, whole))
    return sum(parts) / max(1, sum(wholes))


def _row(language: str, tally: _Tally) -> dict[str, Cell]:
    return {
        "language": language,
        "commits": tally.commits,
        "symbols": tally.symbols,
        "missing": len(tally.missing),
        "untouched": len(tally.untouched),
        "renames": tally.renames,
        "found": tally.renames_found,
        "compact/full": tally.compact_bytes / max(1, tally.full_bytes),
        "text/full": tally.text_tokens / max(1, tally.full_tokens),
    }


def _git(root: Path, *args: str) -> str:
    return git(root, *args, seconds=600).decode("utf-8", "surrogateescape")


def measured_commits(root: Path) -> Iterator[str]:
    """Commits that change some code, spread over the history, and some that say that they rename."""
    listed = _git(root, "log", "--no-merges", "--format=%H", "-n", "1200").split()
    spread = [commit for commit in listed[:: max(1, len(listed) // 120)] if some_code(root, commit)]
    renaming = _git(root, "log", "--no-merges", "--format=%H", "-n", "40", "-i", "--grep=rename").split()
    chosen = [commit for commit in renaming if some_code(root, commit)][:_RENAMING]
    yield from dict.fromkeys([*spread[:_COMMITS], *chosen])


def some_code(root: Path, commit: str) -> list[str]:
    """The files of code that a commit changes; none if there are too many to look at."""
    names = _git(root, "show", "--format=", "--name-only", "-M", commit).split("\n")
    code = [name for name in names if is_code(name)]
    return code if len(code) <= _FILES else []


def is_code(path: str) -> bool:
    """Whether a file is in one of the languages that are measured."""
    return path.endswith((".py", ".go", ".js", ".ts", ".rs", ".java"))


def _measure(root: Path, commit: str, tally: _Tally, count: Callable[[str], int]) -> None:
    compared = states(root, f"{commit}^!")
    files = changes(root, compared)
    found = compare(files)
    truth = _truth(root, compared, files)
    reported = _reported(found)
    label = f"{root.parent.name} {commit[:10]}"
    tally.commits += 1
    tally.symbols += len(found.symbols)
    missing = [name for name in sorted(truth.all - reported) if not _follows(name, truth.all, found)]
    tally.missing += [f"{label} {path}::{name}" for path, name in missing]
    tally.untouched += [f"{label} {path}::{name}" for path, name in sorted(reported - truth.all)]
    renamed = {((c.old_path or c.path, c.old_name or c.name), (c.path, c.name)) for c in found.symbols if _went(c)}
    tally.renames += len(truth.renames)
    tally.renames_found += sum(pair in renamed for pair in truth.renames)
    if found.symbols:
        small, large = (json.dumps(records(found, detail), separators=(",", ":")) for detail in ("compact", "full"))
        tally.compact_bytes += len(small)
        tally.full_bytes += len(large)
        tally.full_tokens += count(large)
        tally.text_tokens += compose(by_symbol(found), _UNLIMITED, count, more=str).tokens


def _follows(name: Name, every: set[Name], found: Comparison) -> bool:
    """Whether a symbol has another qualified name only because the one around it was renamed."""
    for change in found.symbols:
        if not _went(change):
            continue
        old = (change.old_path or change.path, f"{change.old_name or change.name}.")
        new = (change.path, f"{change.name}.")
        for here, there in ((old, new), (new, old)):
            if name[0] == here[0] and name[1].startswith(here[1]):
                return (there[0], there[1] + name[1].removeprefix(here[1])) in every
    return False


def _went(change: SymbolChange) -> bool:
    return bool({"renamed", "moved"} & set(change.changes)) or bool(change.old_name)


def _reported(found: Comparison) -> set[Name]:
    names: set[Name] = set()
    for change in found.symbols:
        if change.name == TOP:
            continue
        names.add((change.path, change.name))
        if _went(change):
            names.add((change.old_path or change.path, change.old_name or change.name))
    return names


@dataclass(frozen=True, slots=True)
class _Truth:
    all: set[Name]
    renames: set[tuple[Name, Name]]


def _truth(root: Path, compared: ComparedStates, files: Sequence[FileChange]) -> _Truth:
    touched: set[Name] = set()
    gone: dict[Name, str] = {}
    come: dict[Name, str] = {}
    for file in files:
        if file.note or (file.old is None and file.new is None):
            continue
        hunks = _git(
            root, "diff", "-M", "-U0", compared.old, compared.new, "--", *{file.path, file.old_path or file.path}
        )
        old_lines, new_lines = _changed_lines(hunks)
        before = _symbols(file.old_path or file.path, file.old)
        after = _symbols(file.path, file.new)
        for name, one in before.items():
            if name not in after:
                gone[file.old_path or file.path, name] = one.text
        for name, one in after.items():
            other = before.get(name)
            if other is None:
                come[file.path, name] = one.text
            elif one.own != other.own and (one.lines & new_lines or other.lines & old_lines):
                touched.add((file.path, name))
    return _Truth(touched | set(gone) | set(come), _renames(gone, come))


@dataclass(slots=True)
class _Symbol:
    lines: set[int]
    own: Counter[str]
    text: str


def _symbols(path: str, data: bytes | None) -> dict[str, _Symbol]:
    """Symbols by qualified name; each line belongs to the innermost."""
    if data is None:
        return {}
    parsed = parse(path, data)
    if {d.kind for d in parsed.definitions} <= {"heading", "key"}:
        return {}
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    inner: dict[int, set[int]] = {}
    for one in parsed.definitions:
        inner.setdefault(one.parent, set()).update(range(one.span.start, one.span.end + 1))
    found: dict[str, _Symbol] = {}
    for index, one in enumerate(parsed.definitions):
        mine = set(range(one.span.start, one.span.end + 1)) - inner.get(index, set())
        mine = {number for number in mine if number <= len(lines) and lines[number - 1].strip()}
        text = "\n".join(lines[one.span.start - 1 : one.span.end]).replace(one.name, "\0")
        known = found.setdefault(_qualified(parsed.definitions, index), _Symbol(set(), Counter(), ""))
        known.lines |= mine
        known.own += Counter(lines[number - 1] for number in mine)
        known.text += text
    return found


def _qualified(definitions: Sequence[Definition], index: int) -> str:
    one = definitions[index]
    if one.parent >= 0:
        return f"{_qualified(definitions, one.parent)}.{one.name}"
    return f"{one.owner}.{one.name}" if one.owner else one.name


def _changed_lines(patch: str) -> tuple[set[int], set[int]]:
    old: set[int] = set()
    new: set[int] = set()
    for line in patch.split("\n"):
        if match := _HUNK.match(line):
            a, n, b, m = (int(part) if part else 1 for part in match.groups())
            old |= set(range(a, a + n))
            new |= set(range(b, b + m))
    return old, new


def _renames(gone: dict[Name, str], come: dict[Name, str]) -> set[tuple[Name, Name]]:
    """Pairs in one file, or of one name, whose lines are nearly equal, each the best of the other."""
    scores = []
    for old, text in gone.items():
        for new, other in come.items():
            if (old[0] != new[0] and old[1] != new[1]) or min(text.count("\n"), other.count("\n")) < 3:
                continue
            ratio = SequenceMatcher(None, text.split("\n"), other.split("\n"), autojunk=False).ratio()
            if ratio >= _NEARLY:
                scores.append((ratio, old, new))
    best: set[tuple[Name, Name]] = set()
    taken: set[Name] = set()
    for _, old, new in sorted(scores, key=lambda entry: (entry[1][1].count("."), -entry[0])):
        if old not in taken and new not in taken and not _inside(old, new, best):
            best.add((old, new))
            taken |= {old, new}
    return best


def _inside(old: Name, new: Name, best: set[tuple[Name, Name]]) -> bool:
    """Whether a pair only follows its parents."""
    return any(old[1].startswith(f"{a[1]}.") and new[1].startswith(f"{b[1]}.") for a, b in best)


def _speed(folder: Path) -> float:
    """The time for a large diff, as a multiple of `git diff --stat` and the bare parse of the changed files."""
    name, least = _LARGE
    root = folder / name / "repo"
    if not root.is_dir():
        return 0.0
    history = _git(root, "log", "--format=%H", "-n", "1500").split()
    for back in range(50, len(history), 50):
        pair = ComparedStates(history[back], history[0])
        if _git(root, "diff", "--name-only", "-M", pair.old, pair.new).count("\n") >= least:
            break
    started = time.perf_counter()
    _git(root, "diff", "--stat", "-M", pair.old, pair.new)
    stat = time.perf_counter() - started
    files = changes(root, pair)
    compare(files[:5])  # grammars and queries are loaded once per process
    started = time.perf_counter()
    for file in files:
        for path, side in ((file.old_path or file.path, file.old), (file.path, file.new)):
            if side is not None and not file.note:
                parse(path, side)
    bare = time.perf_counter() - started
    started = time.perf_counter()
    compose(by_symbol(compare(changes(root, pair))), _UNLIMITED, len, more=str)
    return (time.perf_counter() - started) / (stat + bare)
