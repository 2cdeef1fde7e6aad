"""Follow what answers print to go on: each command runs in a shell as it is printed, and brings what was not shown.

Random calls of every tool, as somebody at a terminal makes them, on code bases in several languages. Words for the
benchmark: how many printed continuations to follow, and a part of the names of the code bases.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from laconic.config import child_environment, load
from laconic.render.table import Cell
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.calls import random_calls, report_text, words
from laconic_benchmarks.corpus import snapshot
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_CLONES: Final = (
    "google/gson", "resilience4j/resilience4j", "expressjs/express", "pallets/flask", "spf13/cobra", "BurntSushi/ripgrep",
    "google/leveldb",
)  # fmt: skip
_DEFAULT: Final = 2_000
_TRIES: Final = 40  # calls for each continuation that is wanted
_MORE: Final = re.compile(r"more: (laconic .+)\]$", re.MULTILINE)
_PAGE: Final = re.compile(r"^\[(?:(?P<first>\d+)-)?(?P<last>\d+) of (?P<total>\d+) ", re.MULTILINE)
_CUT: Final = re.compile(r"^\[cut\]\n\[[\d-]+ of ", re.MULTILINE)
_WIDER: Final = "[there is no room for all of this; more: "
_SKIPPED: Final = frozenset(
    {"edit", "recall", "workspace"}
)  # they print none: a shell gets all, or has commands of its own


class Page(NamedTuple):
    """Which pieces an answer shows, by its last line."""

    first: int
    last: int
    total: int


def run(options: Options) -> Report:
    """Follow continuations on each code base in turn."""
    number, part = _DEFAULT, ""
    for word in options.args:
        if word.isdigit():
            number = int(word)
        else:
            part = word
    clones = [name for name in _CLONES if part in name]
    rows: list[dict[str, Cell]] = []
    notes: list[str] = []
    for at, repository in enumerate(clones):
        root = snapshot(repository, "HEAD", Path(options.mirror), Path(options.cache) / "continuations")
        share = -(-(number - sum(int(row["followed"] or 0) for row in rows)) // (len(clones) - at))
        found = follow_continuations(root, Path(options.cache) / "indexes", Random(at), share)
        broken = [problem for problem in found if problem]
        rows.append({"on": repository, "followed": len(found), "broken": len(broken)})
        notes += [f"{repository}: {problem}" for problem in broken][:10]
    return Report(
        "continuations",
        ", ".join(clones),
        "o200k_base",
        tuple(rows),
        (
            at_least("continuations followed in a shell", sum(int(row["followed"] or 0) for row in rows), number),
            at_most("that fail, repeat or do not advance", sum(int(row["broken"] or 0) for row in rows), 0),
        ),
        tuple(notes),
        versions("splintr-rs"),
    )


def follow_continuations(root: Path, cache: Path, random: Random, number: int) -> list[str]:
    """What is wrong with each continuation that was followed; empty where nothing is."""
    config = cache.parent / "continuations.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'cache_dir = "{cache}"\n', "utf-8")
    runtime = ToolRuntime(
        root, load(file=config), tools(), shell=True, flags=["--root", str(root), "--config", str(config)]
    )
    try:
        runtime.index.build(seconds=600)
        known = words(runtime, random)
        (root / "continuations-report.txt").write_text(report_text(known, random), "utf-8")
        runtime.index.build(seconds=600)
        found: list[str] = []
        for name, given in random_calls(known, random, number * _TRIES):
            if name in _SKIPPED or "offset" in given or len(found) >= number:
                continue
            found += follow(runtime.call(name, {**given, "format": "text", "again": True}).text, root)
        return found[:number]
    finally:
        runtime.close()
        (root / "continuations-report.txt").unlink(missing_ok=True)


def follow(text: str, root: Path) -> Iterator[str]:
    """Run every command that an answer prints to go on, and judge what comes."""
    for command in _MORE.findall(text):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=_environment(),
        )
        if done.returncode:
            yield f"exit code {done.returncode}: {command}: {done.stderr.strip()[:200]}"
        else:
            yield judge(text, done.stdout, command)


def _environment() -> dict[str, str]:
    """Ours, in which the program that runs this is found first."""
    variables = dict(child_environment())
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables.get('PATH', os.defpath)}"
    return variables


def judge(before: str, after: str, command: str) -> str:
    """What is wrong with a page that follows another; empty if nothing is."""
    if after == before:
        return f"the same page again: {command}"
    last, here = read_page(before), read_page(after)
    if _WIDER in before:
        return judge_wider(last, here, after, command)
    if "--offset" not in command:
        return "" if after.strip() else f"nothing: {command}"
    if last is None:
        return f"no page: {command}"
    if here is not None and (here.first != last.last + 1 or here.last < here.first or here.total != last.total):
        return f"{last.last} of {last.total} is followed by {here.first}-{here.last} of {here.total}: {command}"
    if _CUT.search(before):
        return f"the rest of what was cut is skipped: {command}"
    if set(after.splitlines()) <= set(before.splitlines()):
        return f"nothing new: {command}"
    return ""


def judge_wider(last: Page | None, here: Page | None, after: str, command: str) -> str:
    """What is wrong with an answer that was asked for with more room: it has pieces, from the same place on."""
    if last is not None:
        return f"it goes on and does not fit: {command}"
    if _WIDER in after:
        return f"there is still no room: {command}"
    offset = re.search(r"--offset=(\d+)", command)
    first = int(offset[1]) + 1 if offset else 1
    if here is not None and here.first != first:
        return f"it begins at {here.first}, not at {first}: {command}"
    return ""


def read_page(text: str) -> Page | None:
    """What the last line of an answer says of it; None for an answer that is whole."""
    pages = list(_PAGE.finditer(text))
    if not pages:
        return None
    said = pages[-1]
    return Page(int(said["first"] or 1), int(said["last"]), int(said["total"]))
