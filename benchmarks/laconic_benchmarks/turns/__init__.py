"""Agents at work, simulated: the same tasks with a shell and with the code plane, turn by turn.

Scripted policies work through the localisation tasks: a careful agent with ripgrep and sed, a naive one with grep and
cat, and one with the code plane, that asks in steps or all at once. Each decides on what it has seen. The measurement,
which knows the answer, ends every walk with the turn that shows the last function to edit, or after seven turns of calls,
as long as recorded agents look around before they change a file: no rule of thumb of an agent decides the comparison,
and what was spent in vain counts. Every prompt sends everything again, so the sum of prompts is what is compared: tool
lists, instructions and the calls themselves included. Other ends, among them rules that do not know the answer, stand
beside it.

`laconic bench turns [PART OF A REPOSITORY'S NAME] [--tasks N] [--out FOLDER]`; snapshots and indexes are kept in the
cache, those of `laconic bench localisation`; `--out` keeps the walks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from laconic.mcp_server.server_instructions import INSTRUCTIONS
from laconic.mcp_server.tools_and_resources import list_tools
from laconic.tokens.count import Counter, counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic_benchmarks.localisation import Task, laid_out
from laconic_benchmarks.report import Options, Report, sampled
from laconic_benchmarks.snapshot import THIS_REPOSITORY, Snapshot, clone_of, part_of_name, with_clones
from laconic_benchmarks.turns.code_plane import Tools, with_plane
from laconic_benchmarks.turns.habits import turns_before_a_change
from laconic_benchmarks.turns.native import careful, naive
from laconic_benchmarks.turns.seen import Seen
from laconic_benchmarks.turns.shell import TOOL, Shell
from laconic_benchmarks.turns.tables import MOST_OF_CAREFUL, MOST_OF_SAMPLES, report
from laconic_benchmarks.turns.walk import CAREFUL, NAIVE, ONCE, STEPS, Policy, Walk, steps

MOST_TURNS: Final = 7  # with calls: as long as recorded agents look around (median) before they change a file
MODEL: Final = "gpt-5"


class Spoken(Task, frozen=True):
    """A task with the languages of what it changed."""

    langs: tuple[str, ...] = ()


def run(options: Options) -> Report:
    part = part_of_name(options)
    lines = (Path(options.data) / "localisation" / "public.jsonl").read_text("utf-8").splitlines()
    tasks = [task for task in (msgspec.json.decode(line, type=Spoken) for line in lines) if part in task.mirror]
    by_mirror: defaultdict[str, list[Spoken]] = defaultdict(list)
    for task in sampled(tasks, options.tasks):
        by_mirror[task.mirror].append(task)
    count = counter(MODEL)
    walks: list[Walk] = []
    for name, group in with_clones(by_mirror, options).items():
        options.progress(f"turns: {name}, {len(group)} tasks")
        kept = Path(options.cache) / "localisation" / name
        for task, snapshot, runtime in laid_out(clone_of(name, options), kept, group):
            walks += _walked(task, snapshot, runtime, count)
    if options.out:
        Path(options.out).mkdir(parents=True, exist_ok=True)
        (Path(options.out) / "walks.json").write_bytes(msgspec.json.encode(walks))
    looked = turns_before_a_change(Path(options.data) / "trajectories")
    most = MOST_OF_SAMPLES if THIS_REPOSITORY in by_mirror else MOST_OF_CAREFUL
    return report(walks, count.name, len(by_mirror), looked, most)


def _walked(task: Spoken, snapshot: Snapshot, runtime: ToolRuntime, count: Counter) -> Iterator[Walk]:
    shell, ours = Shell(snapshot.folder, snapshot.lines), partial(Tools, runtime, snapshot.lines)
    shells, tools = fixed_costs(count)
    policies: dict[str, tuple[Policy, int]] = {
        CAREFUL: (careful(task.query, shell), shells),
        NAIVE: (naive(task.query, shell), shells),
        STEPS: (with_plane(task.query, ours(), ("compact", "standard")), shells + tools),
        ONCE: (with_plane(task.query, ours(), ("standard",)), shells + tools),
    }
    for name, (policy, fixed) in policies.items():
        seen = Seen(task, runtime.index.store, snapshot.lines)
        begin = fixed + count(task.query)
        yield Walk(task.id, task.langs, task.leaks, name, fixed, steps(policy, seen, MOST_TURNS, begin, count))


def fixed_costs(count: Counter) -> tuple[int, int]:
    """Tokens of the shell's schema, which every agent has, and of our tool list with the server's instructions."""
    ours = msgspec.json.encode(list_tools(editing=False)).decode() + INSTRUCTIONS
    return count(msgspec.json.encode(TOOL).decode()), count(ours)
