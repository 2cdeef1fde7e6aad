"""Record the outputs that `laconic bench outputs` measures on: commands that run on this repository, and their facts.

What counts as a fact is decided by a rule for each kind of output, before anything is reduced: the first, the rarest and
the last diagnostic, a failing test with its error and its place, a commit with a changed line, places that were found.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from laconic_benchmarks.outputs import Fact, Output

ROOT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = ROOT / "benchmarks" / "laconic_benchmarks" / "samples" / "outputs" / "dev.jsonl"
_SHOWN: Final = "/home/dev/laconic"  # in place of the folder that commands ran in
_AUTHOR: Final = "Author: The Laconic authors <authors@example.com>"
_LONGEST: Final = 50  # characters of a message or a line that make an atom
_BIN: Final = Path(sys.executable).parent
_COPIED: Final = ("src", "tests", "docs", "pyproject.toml", "README.md")

Rule = Callable[[str], Iterator[Fact]]


@dataclass(frozen=True)
class Recipe:
    """A command, what its output is taken for, and a fault that is planted before: file, text, other text."""

    id: str
    category: str
    command: str
    facts: Rule
    fault: tuple[str, str, str] | None = None


def find_diagnostics(pattern: str, summary: str) -> Rule:
    """The first, the rarest and the last diagnostic, and the count at the end."""

    def find(text: str) -> Iterator[Fact]:
        found = [match.groupdict() for match in re.finditer(pattern, text, re.MULTILINE)]
        uses = Counter(one["rule"] for one in found)
        rarest = min(found, key=lambda one: uses[one["rule"]])
        for kind, one in (("first", found[0]), ("rarest", rarest), ("last", found[-1])):
            atoms = (Path(one["path"]).name, one["line"], one["rule"], one["message"][:_LONGEST])
            yield Fact(f"{kind} diagnostic", atoms)
        for match in list(re.finditer(summary, text))[-1:]:
            yield Fact("summary count", (match[0],))

    return find


def find_json_findings(text: str) -> Iterator[Fact]:
    """The first, the rarest, the middle and the last finding."""
    found = json.loads(text)
    uses = Counter(one["code"] for one in found)
    rarest = min(found, key=lambda one: uses[one["code"]])
    chosen = {"first": found[0], "rarest": rarest, "middle": found[len(found) // 2], "last": found[-1]}
    for kind, one in chosen.items():
        yield Fact(f"{kind} finding", (one["code"], Path(one["filename"]).name, str(one["location"]["row"])))


def find_failures(text: str) -> Iterator[Fact]:
    """The first and the last failing test, the first error with its place, and the counts."""
    failed = re.findall(r"^(?:FAILED|ERROR) ([^\s:]+)(?:::(\w+))?", text, re.MULTILINE)
    for path, test in dict.fromkeys((failed[0], failed[-1])):
        yield Fact("failing test", tuple(filter(None, (test, Path(path).name))))
    error = re.search(r"^E +(\S.*)$", text, re.MULTILINE)
    if error:
        yield Fact("error line", (error[1].strip()[:_LONGEST],))
    place = re.search(r"^([\w/.]+\.py):(\d+): \w+", text, re.MULTILINE)
    if place:
        yield Fact("failing location", (f"{Path(place[1]).name}:{place[2]}",))
    yield from find_counts(text)


def find_counts(text: str) -> Iterator[Fact]:
    """How many tests failed and passed, as the last line says."""
    yield Fact("summary count", tuple(re.findall(r"\d+ (?:failed|passed|errors?)", text.splitlines()[-1])))


def find_commits(text: str) -> Iterator[Fact]:
    """The first and the last commit, a changed file, the longest added and the longest removed line."""
    commits = re.findall(r"^commit (\w{7})\w*\n(?:\w+:.*\n)+\n +(.+)$", text, re.MULTILINE)
    for commit, subject in dict.fromkeys((*commits[:1], *commits[-1:])):
        yield Fact("commit", (commit, subject[:_LONGEST]))
    files = re.findall(r"^(?:diff --git a/(\S+)| (\S+) +\| +\d+)", text, re.MULTILINE)
    if files:
        yield Fact("changed file", ("".join(files[len(files) // 2]),))
    for kind, sign in (("added line", r"\+"), ("removed line", "-")):
        lines = re.findall(rf"^{sign}(?!{sign})(.*\S.*)$", text, re.MULTILINE)
        if lines:
            yield Fact(kind, (max(lines, key=len).strip()[:_LONGEST],))


def find_places(text: str) -> Iterator[Fact]:
    """The first, the middle and the last place of a search, and the first definition."""
    found = re.findall(r"^([^:\n]+):(\d+):(.*)$", text, re.MULTILINE)
    defined = [one for one in found if re.search(r"\b(?:def|class) ", one[2])]
    for path, line, said in dict.fromkeys((*defined[:1], found[0], found[len(found) // 2], found[-1])):
        yield Fact("place", (Path(path).name, line, said.strip()[:_LONGEST]))


def find_frames(text: str) -> Iterator[Fact]:
    """The error, the frame that raised it, and the one that it began in."""
    yield Fact("error line", (text.rstrip().splitlines()[-1],))
    frames = re.findall(r'File "([^"]+)", (line \d+), in (\S+)', text)
    for kind, (path, line, name) in (("raising frame", frames[-1]), ("entry frame", frames[0])):
        yield Fact(kind, (Path(path).name, line, name))


def find_syntax_error(text: str) -> Iterator[Fact]:
    """The error, and the place that it names."""
    yield Fact("error line", (text.rstrip().splitlines()[-1],))
    path, line = re.findall(r'File "([^"]+)", (line \d+)\n', text)[-1]
    yield Fact("location", (Path(path).name, line))


_RUFF: Final = find_diagnostics(
    r"^(?P<path>[\w/.]+):(?P<line>\d+):\d+: (?P<rule>[A-Z]+\d+) (?:\[\*\] )?(?P<message>.+)$", r"Found \d+ errors?"
)
_RUFF_FULL: Final = find_diagnostics(
    r"^(?P<rule>[A-Z]+\d+) (?:\[\*\] )?(?P<message>.+)\n +--> (?P<path>[\w/.]+):(?P<line>\d+)", r"Found \d+ errors?"
)
_MYPY: Final = find_diagnostics(
    r"^(?P<path>[\w/.]+):(?P<line>\d+): error: (?P<message>.+)  \[(?P<rule>[\w-]+)\]$",
    r"Found \d+ errors? in \d+ files?",
)
_PYTEST: Final = "python -m pytest -p no:cacheprovider -p no:xdist -o addopts=--import-mode=importlib"
_RULES: Final = "--isolated --line-length 118 --select E,F,B,S,D,PLR,TRY,PTH"
_CARRY: Final = ("src/laconic/edits/align.py", "    return carried", "    return carried[1:]")
_NUMBER: Final = ("src/laconic/render/numbered_lines.py", "enumerate(lines, start)", "enumerate(lines, start + 1)")
_PRICE: Final = ("src/laconic/tokens/estimate.py", "return max(round(total)", "return max(total.rounded()")
_SYNTAX: Final = ("src/laconic/records.py", "class ", "clas ")
_IMPORT: Final = ("src/laconic/records.py", "import msgspec", "import msgspecs")

RECIPES: Final = (
    Recipe("ruff-workspace", "lint", f"ruff check {_RULES} --output-format concise src/laconic/workspace", _RUFF),
    Recipe("ruff-edits", "lint", f"ruff check {_RULES} --output-format full src/laconic/edits", _RUFF_FULL),
    Recipe("mypy-tools", "lint", "mypy --no-incremental --disallow-any-expr src/laconic/tools", _MYPY),
    Recipe("mypy-agent", "lint", "mypy --no-incremental --disallow-any-expr src/laconic/agent/transport.py", _MYPY),
    Recipe(
        "ruff-wire",
        "json",
        f"ruff check {_RULES} --quiet --output-format json src/laconic/wire/prompted",
        find_json_findings,
    ),
    Recipe("pytest-edits", "pytest", f"{_PYTEST} tests/edits", find_failures, _CARRY),
    Recipe("pytest-render", "pytest", f"{_PYTEST} -v tests/render", find_failures, _NUMBER),
    Recipe("pytest-tokens", "pytest", f"{_PYTEST} tests/tokens", find_failures, _PRICE),
    Recipe("pytest-import", "pytest", f"{_PYTEST} tests/reduce tests/render", find_failures, _IMPORT),
    Recipe("pytest-passing", "pytest", f"{_PYTEST} -v tests/reduce/findings tests/edits", find_counts),
    Recipe("git-log", "git", "git log --stat -12 4cc572e", find_commits),
    Recipe("git-log-patches", "git", "git log -p -3 4cc572e -- src/laconic/edits", find_commits),
    Recipe("git-diff", "git", "git diff 00507a9 0ad49bb -- src/laconic/sessions", find_commits),
    Recipe("git-show", "git", "git show 982cac9", find_commits),
    Recipe("grep-counter", "search", "grep -rn 'counter(' src tests", find_places),
    Recipe("grep-errors", "search", "grep -rnE 'raise (UsageError|Unreadable)' src", find_places),
    Recipe("grep-settings", "search", "grep -rnw Settings src/laconic", find_places),
    Recipe("traceback-import", "traceback", "python -c 'import laconic.tool_runtime.runtime'", find_frames, _IMPORT),
    Recipe("traceback-syntax", "traceback", "python -m laconic search x", find_syntax_error, _SYNTAX),
    Recipe(
        "traceback-call",
        "traceback",
        "python -c 'from laconic.tokens.estimate import estimate; print(estimate(__name__))'",
        find_frames,
        _PRICE,
    ),
)


def record(recipe: Recipe, folder: Path) -> Output:
    """Run one command in a copy of the repository, or in the repository itself if it asks git."""
    where = ROOT if recipe.category == "git" else folder
    kept = b""
    if recipe.fault:
        path, old, new = recipe.fault
        kept = (folder / path).read_bytes()
        assert old.encode() in kept, f"{recipe.id}: {path} holds no {old!r}"
        (folder / path).write_bytes(kept.replace(old.encode(), new.encode(), 1))
    done = subprocess.run(
        ["bash", "-c", recipe.command],
        cwd=where,
        env={
            "PATH": f"{_BIN}:/usr/bin:/bin",
            "PYTHONPATH": str(folder / "src"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(folder),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if recipe.fault:
        (folder / recipe.fault[0]).write_bytes(kept)
    text = _scrub(done.stdout, folder)
    facts = tuple({fact.atoms: fact for fact in recipe.facts(text)}.values())  # the first may be the rarest
    return Output(id=recipe.id, category=recipe.category, text=text, facts=facts)


def _scrub(text: str, folder: Path) -> str:
    """Without the folders of the machine, and without the names of people."""
    for place, shown in (
        (folder, _SHOWN),
        (ROOT, _SHOWN),
        (_BIN.parent, f"{_SHOWN}/.venv"),
        (Path.home(), "/home/dev"),
    ):
        text = re.sub(rf"(?<!\w){re.escape(str(place))}(?!\w)", shown, text)
    return re.sub(r"^Author: .*$", _AUTHOR, text, flags=re.MULTILINE)


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "laconic"
        for name in _COPIED:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        outputs = [record(recipe, folder) for recipe in RECIPES]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(b"".join(msgspec.json.encode(output) + b"\n" for output in outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
