"""Laws of the code plane: no answer over its budget, no hostile call that reads outside, hangs or breaks it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Final

from laconic.config import load
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools
from laconic.workspace.git import git_in_own
from laconic_benchmarks.calls import MOST, Arguments, random_calls, report_text, words
from laconic_benchmarks.corpus import DJANGO, sdist, snapshot
from laconic_benchmarks.hostile import SECRET, hostile_calls, lay_out
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_CLONES: Final = (("google/gson", "HEAD"), ("preactjs/preact", "HEAD"))
_STREAK: Final = 20  # calls of one session
_PATIENCE: Final = 5.0  # seconds that no call may take
_DEFAULT: Final = 2_000  # calls in all; the first word for the benchmark is another number


def run(options: Options) -> Report:
    """Random calls with a fixed seed, then hostile calls on a workspace with traps."""
    number = int(options.args[0]) if options.args else _DEFAULT
    roots = _roots(Path(options.cache), Path(options.mirror))
    rows: list[dict[str, Cell]] = []
    notes: list[str] = []
    for at, (name, root) in enumerate(roots.items()):
        runtime = opened(root, Path(options.cache) / "indexes")
        found = budget_law(runtime, Random(at), number // len(roots))
        rows.append({"calls on": name, **_figures(found)})
        notes += [f"{name}: {problem}" for problem in found if problem][:5]
        runtime.close()
    folder = Path(options.cache) / "laws"
    runtime = opened(lay_out(folder), folder / "indexes")
    hostile, slowest = hostile_law(runtime, hostile_calls())
    runtime.close()
    rows.append({"calls on": "a workspace with traps", **_figures(hostile), "slowest (s)": round(slowest, 2)})
    notes += [problem for problem in hostile if problem][:10]
    broken = sum(int(row["broken"] or 0) for row in rows[:-1])
    return Report(
        "laws",
        f"this repository, {DJANGO} sdist, {' and '.join(name for name, _ in _CLONES)}",
        "o200k_base",
        tuple(rows),
        (
            at_least("random calls", sum(int(row["calls"] or 0) for row in rows[:-1]), number),
            at_most("random calls that break the budget, or JSON", broken, 0),
            at_least("hostile calls", len(hostile), 300),
            at_most("hostile calls that read outside, raise or hang", sum(map(bool, hostile)), 0),
            at_most("seconds of the slowest hostile call", slowest, _PATIENCE),
        ),
        tuple(notes),
        versions("splintr-rs"),
    )


def opened(root: Path, cache: Path) -> ToolRuntime:
    """The tools of a code base, indexed."""
    runtime = ToolRuntime(root, load(flags={"cache_dir": str(cache)}), tools())
    runtime.index.build(seconds=600)
    return runtime


def budget_law(runtime: ToolRuntime, random: Random, number: int) -> list[str]:
    """What is wrong with the answer of each call; empty where nothing is."""
    count = counter("o200k_base")
    session, found = Session(), []
    known = words(runtime, random)
    (runtime.root / "laws-report.txt").write_text(report_text(known, random), "utf-8")
    for at, (tool, given) in enumerate(random_calls(known, random, number)):
        session = session if at % _STREAK else Session()
        text = runtime.call(tool, given, session).text
        found.append(broken(text, count(text), given, f"{tool} {ascii(given)[:200]}"))
    return found


def broken(text: str, tokens: int, given: Arguments, call: str) -> str:
    """Which law an answer breaks, if one."""
    budget = given.get("budget")
    most = budget if isinstance(budget, int) and 0 < budget < MOST else MOST
    if tokens > max(50, most):
        return f"{tokens} tokens: {call}"
    if given.get("format") == "json":
        try:
            json.loads(text)
        except ValueError:
            return f"no JSON: {call}"
    return "" if text.strip() else f"empty: {call}"


def hostile_law(runtime: ToolRuntime, calls: Iterable[tuple[str, Arguments]]) -> tuple[list[str], float]:
    """What is wrong with each answer, and the seconds of the slowest."""
    count = counter("o200k_base")
    found, slowest = [], 0.0
    for tool, given in calls:
        call = f"{ascii(tool)[:40]} {_shown(given)}"
        started = time.perf_counter()
        try:
            text = runtime.call(tool, given).text
            text.encode()
        except Exception as error:  # noqa: BLE001 - the law is that there is none
            found.append(f"raised {type(error).__name__} {ascii(error)[:80]}: {call}")
            continue
        seconds = time.perf_counter() - started
        slowest = max(slowest, seconds)
        problem = broken(text, count(text), given, call)
        if SECRET in text or "root:x:0" in text:
            problem = f"read outside: {call}"
        found.append(f"{seconds:.1f} s: {call}" if seconds > _PATIENCE else problem)
    return found, slowest


def _shown(given: Arguments) -> str:
    """The arguments as ASCII, each cut."""
    said = {
        name: ascii(value)[:60] if isinstance(value, str) else type(value).__name__ for name, value in given.items()
    }
    return ", ".join(f"{ascii(name)[:40]}={value}" for name, value in said.items())


def _figures(found: list[str]) -> dict[str, Cell]:
    return {"calls": len(found), "broken": sum(map(bool, found))}


def _roots(cache: Path, mirror: Path) -> dict[str, Path]:
    """Copies of four code bases, with a report to read; those from a clone get a history to compare."""
    folder = cache / "laws"
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / "laconic"
    if not own.is_dir():
        git_in_own(folder, "clone", "--quiet", "--local", str(Path.cwd()), str(own), seconds=120)
    roots = {"laconic": own, "django": sdist(DJANGO, cache)}
    for repository, commit in _CLONES:
        root = snapshot(repository, commit, mirror, folder)
        if not (root / ".git").is_dir():
            _history(root)
        roots[repository] = root
    return roots


def _history(root: Path) -> None:
    """Two commits and changes on top of them."""
    who = ("-c", "user.name=laws", "-c", "user.email=laws@localhost")
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    git_in_own(root, "init", "-q")
    for start in (1, 2):
        git_in_own(root, "add", "-A")
        git_in_own(root, *who, "commit", "-q", "-m", f"state {start}")
        for path in files[start::40]:
            data = path.read_bytes().split(b"\n")
            path.write_bytes(b"\n".join(data[: len(data) // 2] + data[len(data) // 2 + 3 :]))
