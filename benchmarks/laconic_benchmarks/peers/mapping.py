"""What is put before a model that was only told a task: a peer's repository map, and our `context`.

The peer is run as a person runs it, with the settings that it chooses for a well-known model and a provider on loopback
that keeps what it is sent. Both get the same localisation tasks, and both are scored in the same way: a function is named
when the line that defines it stands below its file.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

import msgspec

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.workspace.git import git_in_own
from laconic_benchmarks.localisation import Task, definition, laid_out
from laconic_benchmarks.peers.environments import Peer, environment, installed, peer
from laconic_benchmarks.peers.passing import answered
from laconic_benchmarks.printed import printed
from laconic_benchmarks.report import Options, sampled
from laconic_benchmarks.snapshot import Snapshot

_AIDER: Final = "aider-chat"
_TASKS: Final = 15  # spread over all, unless told: the map of a large repository takes minutes
_QUICK: Final = 3
_SMALL: Final = 1024  # tokens of a short answer, beside the default
_SECONDS: Final = 900.0
_KNOWN: Final = 60  # characters of a line by which it is known
# The messages that tell of the repository: its map, and whole files whose path the task mentions.
_TELLING: Final = ("Here are summaries of some files", "added these files to the chat")
_QUIET: Final = ("--yes-always", "--no-check-update", "--analytics-disable", "--no-show-model-warnings")

Shown = list[tuple[str, str]]  # path and text of a line


def mapped(options: Options, peers: Sequence[Peer], notes: list[str]) -> list[dict[str, Cell]]:
    """Functions named against tokens, for the peer if it is installed; nothing without it."""
    cache = Path(options.cache)
    number = installed(cache, peer(_AIDER)) if peer(_AIDER) in peers else ""
    if not number:
        return []
    lines = (Path(options.data) / "localisation" / "public.jsonl").read_bytes().splitlines()
    wanted = sampled(lines, options.tasks or (_QUICK if options.quick else _TASKS))
    by_mirror: defaultdict[str, list[Task]] = defaultdict(list)
    for task in (msgspec.json.decode(line, type=Task) for line in wanted):
        by_mirror[task.mirror].append(task)
    figures: defaultdict[str, list[tuple[float, int, float]]] = defaultdict(list)
    for name, tasks in by_mirror.items():
        options.progress(f"peers: maps of {name}")
        for by, *found in _figures(options, name, tasks, f"{_AIDER} {number}", notes):
            figures[by].append((found[0], int(found[1]), found[2]))
    return [
        {
            **{"measure": "told a task", "by": by, "tasks": len(rows), "named": mean(row[0] for row in rows)},
            **{"tokens": mean(row[1] for row in rows), "answers s": mean(row[2] for row in rows)},
        }
        for by, rows in figures.items()
    ]


def _figures(
    options: Options, name: str, tasks: Sequence[Task], theirs: str, notes: list[str]
) -> Iterator[tuple[str, float, float, float]]:
    cache, count = Path(options.cache), counter()
    for task, snapshot, runtime in laid_out(
        Path(options.mirror) / name / "repo", cache / "localisation" / name, tasks
    ):
        try:
            began = time.perf_counter()
            text = _map_of(cache, snapshot.folder, task.query)
        except CommandFailed as error:
            notes.append(f"{theirs}, {task.id}: {error}")
            continue
        yield theirs, _named(task, _lines_shown(text, snapshot), snapshot), count(text), time.perf_counter() - began
        for by, budget in (("laconic", "standard"), (f"laconic, budget {_SMALL}", _SMALL)):
            began = time.perf_counter()
            answer = runtime.call("context", {"task": task.query, "budget": budget}).text
            took = time.perf_counter() - began
            shown = [(line.path, line.text) for line in printed(answer, snapshot.lines)]
            yield by, _named(task, shown, snapshot), count(answer), took


def _named(task: Task, shown: Shown, snapshot: Snapshot) -> float:
    """The share of the functions to edit whose definition is among the lines."""
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in shown:
        by_file[path].append(text)
    found = 0
    for function in task.functions:
        lines = snapshot.lines(function.path)
        line = lines[definition(function, lines) - 1].strip()[:_KNOWN].rstrip()
        found += any(line in text for text in by_file[function.path])
    return found / len(task.functions)


def _lines_shown(text: str, snapshot: Snapshot) -> Shown:
    """Lines below the path of a file, with a colon in a map and without one above a whole file."""
    shown: Shown = []
    path = ""
    for line in text.split("\n"):
        if line and (snapshot.lines(line) or snapshot.lines(line.removesuffix(":"))):
            path = line.removesuffix(":")
        elif path:
            shown.append((path, line.removeprefix("│")))
    return shown


def _map_of(cache: Path, folder: Path, task: str) -> str:
    """The part of the first prompt that tells of the repository; it wants to find one that git knows."""
    with tempfile.TemporaryDirectory(prefix="laconic-peers-", ignore_cleanup_errors=True) as scratch:
        code, home = Path(scratch) / "code", Path(scratch) / "home"
        shutil.copytree(folder, code, symlinks=True)
        home.mkdir()
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "GIT_CONFIG_GLOBAL": "/dev/null"}
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        for words in (("init", "-q"), ("add", "-A", "-f"), (*who, "commit", "-q", "-m", "all")):
            git_in_own(code, *words, seconds=600)
        return asyncio.run(_asked(environment(cache, peer(_AIDER)) / "bin" / "aider", code, task, own))


async def _asked(program: Path, code: Path, task: str, own: dict[str, str]) -> str:
    sent: list[bytes] = []

    def kept(asked: ReceivedRequest) -> ScriptedAnswer:
        sent.append(asked.body)
        return answered(asked)

    async with ScriptedUpstream(kept) as upstream:
        words = ["--model", "openai/gpt-4o", "--openai-api-base", f"{upstream.url}/v1", "--openai-api-key", "none"]
        process = await asyncio.create_subprocess_exec(
            *(str(program), *words, *_QUIET, "--message", task),
            cwd=code,
            env=child_environment(own),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await asyncio.wait_for(process.wait(), _SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise CommandFailed(f"it took longer than {_SECONDS:g} s.") from None
    if not sent:
        raise CommandFailed(f"it ended with {process.returncode} and asked no model.")
    messages = msgspec.json.decode(sent[0])["messages"]
    told = (str(each["content"]) for each in messages)
    return "\n".join(text for text in told if any(words in text for words in _TELLING))
