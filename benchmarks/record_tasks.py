"""Record the tasks that `laconic bench turns` and `localisation` measure on by default: commits of this repository.

A rule chooses them, before anything is measured: commits with a message of at least six words that change one to six
functions in one to four files of the package; of those, in the order of their names' hashes, as many as are wanted.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from laconic.index.parse import parse
from laconic_benchmarks.localisation import Changed, Function
from laconic_benchmarks.snapshot import THIS_REPOSITORY
from laconic_benchmarks.turns import Spoken

ROOT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = ROOT / "benchmarks" / "laconic_benchmarks" / "samples" / "localisation" / "public.jsonl"
_WANTED: Final = 12
_WORDS: Final = 6
_FILES: Final = 4
_FUNCTIONS: Final = 6
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
_CALLABLE: Final = frozenset({"function", "method", "constructor"})


def _main() -> None:
    tasks = []
    for commit in _commits():
        task = _task(commit)
        if task is not None:
            tasks.append(task)
        if len(tasks) == _WANTED:
            break
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    lines = sorted(msgspec.json.encode(task) for task in tasks)
    TARGET.write_bytes(b"\n".join(lines) + b"\n")


def _commits() -> list[str]:
    """Commits with one parent, in an order that has nothing to do with what they are about."""
    names = _git("rev-list", "--no-merges", "--min-parents=1", "HEAD").split()
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def _task(commit: str) -> Spoken | None:
    text = _git("log", "-1", "--format=%s", commit).strip()
    paths = _git("diff", "--name-only", "--diff-filter=M", f"{commit}~1", commit, "--", "src/*.py").split()
    if len(text.split()) < _WORDS or not 1 <= len(paths) <= _FILES:
        return None
    files: list[Changed] = []
    functions: list[Function] = []
    for path in paths:
        edits = tuple(_edits(commit, path))
        files.append(Changed(path, edits))
        functions += _functions(commit, path, edits)
    if not 1 <= len(functions) <= _FUNCTIONS:
        return None
    words = set(re.findall(r"\w+", text))
    leaks = {
        "leak_path": any(Path(path).stem in words for path in paths),
        "leak_function": any(function.name in words for function in functions),
    }
    return Spoken(
        id=f"commit/{commit[:10]}",
        family="commit",
        mirror=THIS_REPOSITORY,
        parent_sha=_git("rev-parse", f"{commit}~1").strip(),
        query=text,
        functions=tuple(functions),
        flags=leaks,
        files=tuple(files),
        langs=("python",),
    )


def _edits(commit: str, path: str) -> Iterator[tuple[int, int]]:
    """Ranges of lines of the parent that were changed; an insertion is the two lines around it."""
    for match in _HUNK.finditer(_git("diff", "-U0", f"{commit}~1", commit, "--", path)):
        start, count = int(match[1]), int(match[2] or 1)
        if count:
            yield start, start + count - 1
        else:
            yield max(1, start), start + 1


def _functions(commit: str, path: str, edits: tuple[tuple[int, int], ...]) -> Iterator[Function]:
    """Innermost functions of the parent in which something was changed."""
    parsed = parse(path, _git("show", f"{commit}~1:{path}").encode())
    if parsed is None:
        return
    spans = []
    for definition in parsed.definitions:
        if definition.kind in _CALLABLE:
            spans.append((definition.span.end - definition.span.start, definition))
    spans.sort(key=lambda row: row[0])
    seen = set()
    for start, end in edits:
        for _, definition in spans:
            span = definition.span
            if span.start <= end and start <= span.end:
                if (span.start, span.end) not in seen:
                    seen.add((span.start, span.end))
                    yield Function(path, definition.name, span.start, span.end)
                break


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True, text=True)
    return done.stdout


if __name__ == "__main__":
    _main()
