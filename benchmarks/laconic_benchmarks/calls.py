"""Calls of the code plane that nobody chose: random ones from the words of a code base."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from laconic.tool_runtime.runtime import ToolRuntime

Arguments = dict[str, object]
LEAST: Final = 50
MOST: Final = 10_000
_TOOLS: Final = [
    "search",
    "inspect",
    "read",
    "map",
    "context",
    "trace",
    "diff",
    "edit",
    "report",
    "workspace",
    "recall",
]
_FILES: Final = 60  # files that the words are taken from
_STATES: Final = ("", "HEAD", "HEAD~1..HEAD", "HEAD~2", "HEAD^!", "staged", "unstaged", "nowhere", "a...b")
_WITHIN: Final = ("all", "code", "symbols", "refs", "docs", "tests", "paths")
_PARTS: Final = ("body", "refs", "callees", "implementations", "tests")


@dataclass(frozen=True, slots=True)
class Words:
    """What a code base is made of, as far as calls name it."""

    paths: list[str]
    symbols: list[str]
    lines: list[tuple[str, str]]  # path and text
    refs: list[str]  # of the archive


def words(runtime: ToolRuntime, random: Random) -> Words:
    """A sample of the paths, symbols and lines of a code base that is indexed."""
    files = sorted(runtime.index.store.files(), key=lambda file: file.path)
    paths = [file.path for file in files]
    symbols: list[str] = []
    lines: list[tuple[str, str]] = []
    for file in random.sample(files, min(_FILES, len(files))):
        symbols += [symbol.qualified for symbol in runtime.index.store.symbols_in(file.id)]
        if file.state != "skipped":
            text = (runtime.root / file.path).read_text("utf-8", "replace")
            lines += [(file.path, line) for line in text.split("\n") if line.strip()][:200]
    kept = runtime.archive.put("laws", "laws", "\n".join(text for _, text in lines).encode(), "lines of the sample")
    return Words(paths, symbols or ["main"], lines or [("", "main")], [kept])


def random_calls(known: Words, random: Random, number: int) -> Iterator[tuple[str, Arguments]]:
    """Calls of every tool, in text and JSON, with budgets from 50 to 10,000 tokens, small ones as likely as large."""
    for at in range(number):
        tool = _TOOLS[at % len(_TOOLS)]
        arguments = _MAKERS[tool](known, random)
        arguments["budget"] = round(math.exp(random.uniform(math.log(LEAST), math.log(MOST))))
        if random.random() < 0.4:
            arguments["format"] = "json"
        if random.random() < 0.1:
            arguments["offset"] = random.choice([1, 5, 40, 10_000])
        yield tool, arguments


def _search(known: Words, random: Random) -> Arguments:
    line = random.choice(known.lines)[1].split()
    query = random.choice(
        [
            random.choice(known.symbols),
            random.choice(line),
            " ".join(line[:4]),
            f"/{random.choice(['def', 'class', 'return', '[a-z]+_id', '.'])}/",
            f"**/*{random.choice(known.paths)[-4:]}",
            f"where is {random.choice(known.symbols)} used and why",
        ]
    )
    made: Arguments = {"query": query, "in": random.choice(_WITHIN)}
    return made | ({"limit": random.choice([1, 30, 100])} if random.random() < 0.3 else {})


def _inspect(known: Words, random: Random) -> Arguments:
    made: Arguments = {"symbol": random.choices(known.symbols, k=random.randint(1, 4))}
    return made | ({"only": [random.choice(_PARTS)]} if random.random() < 0.3 else {})


def _read(known: Words, random: Random) -> Arguments:
    return {"targets": [_target(known, random) for _ in range(random.randint(1, 4))]}


def _target(known: Words, random: Random) -> str:
    path, start = random.choice(known.paths), random.randint(1, 300)
    forms = (
        path,
        f"{path}:{start}-{start + random.randint(0, 400)}",
        f"{path}:{start}",
        random.choice(known.symbols),
    )
    return random.choice((*forms, f"{path}x", f"{path}::{random.choice(known.symbols)}"))


def _map(known: Words, random: Random) -> Arguments:
    path = random.choice(known.paths)
    return {"path": random.choice(["", path, path.rpartition("/")[0], "no/where"])}


def _context(known: Words, random: Random) -> Arguments:
    return {"task": " ".join(random.choice(known.lines)[1].strip() for _ in range(random.randint(1, 12)))}


def _trace(known: Words, random: Random) -> Arguments:
    made: Arguments = {"symbol": random.choice(known.symbols), "direction": random.choice(["up", "down"])}
    return made | ({"to": random.choice(known.symbols)} if random.random() < 0.3 else {})


def _diff(known: Words, random: Random) -> Arguments:
    return {"states": random.choice(_STATES), "view": random.choice(["symbols", "hunks"])}


def _edit(known: Words, random: Random) -> Arguments:
    edits: list[dict[str, object]] = []
    for _ in range(random.randint(1, 5)):
        path, line = random.choice(known.lines)
        text = "\n".join(line for _, line in random.choices(known.lines, k=random.randint(1, 60)))
        forms: list[dict[str, object]] = [
            {"path": path, "find": line, "text": text},
            {"path": path, "tag": "abcdef", "start": 1, "end": 40, "text": text},
            {"path": f"new/{random.randint(1, 999)}.py", "create": True, "text": text},
        ]
        edits.append(random.choice(forms))
    return {"edits": edits, "dry_run": True}


def _report(known: Words, random: Random) -> Arguments:
    made: Arguments = {"file": random.choice(["laws-report.txt", random.choice(known.paths)])}
    return made | random.choice([{}, {"severity": "error"}, {"context": True}, {"run": "ruff"}])


def _workspace(known: Words, random: Random) -> Arguments:
    return {"action": random.choice(["status", "list"])}


def _recall(known: Words, random: Random) -> Arguments:
    made: Arguments = {"ref": random.choice([*known.refs, *known.refs, "", "nothing1"])}
    return made | random.choice([{}, {"lines": "3-90"}, {"grep": random.choice(["e", "[0-9]+"])}])


_MAKERS: Final = {
    "search": _search,
    "inspect": _inspect,
    "read": _read,
    "map": _map,
    "context": _context,
    "trace": _trace,
    "diff": _diff,
    "edit": _edit,
    "report": _report,
    "workspace": _workspace,
    "recall": _recall,
}


def report_text(known: Words, random: Random) -> str:
    """What a linter would print about a code base."""
    rows = []
    for _ in range(300):
        path, line = random.choice(known.lines)
        rows.append(f"{path}:{random.randint(1, 90)}:1: error: {line.strip()[:80]}  [rule-{random.randint(1, 9)}]")
    return "\n".join([*rows, "Found 300 errors in 60 files (checked 60 source files)", ""])
