"""Recorded sessions of several agents, turn by turn through the conversation engine with its default settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from laconic.clients.registry import task_tools
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.replay import Json, Prepare, ReplayClock, ReplayOutcome, replay
from laconic.models.model import Price
from laconic.render.table import Cell
from laconic.sessions.transcripts import Transcript, transcripts
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic_benchmarks.peers.environments import installed, peer
from laconic_benchmarks.peers.headroom import HEADROOM, HeadroomProcess
from laconic_benchmarks.replay_parts import PARTS, part_of
from laconic_benchmarks.replay_policies import clear_above, mask_older
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, versions

_FEWEST: Final = 30  # turns of the assistant that a session must have
_CACHE: Final = Price(0.1, 1.25, 300, 1024)
HEAD: Final[Json] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 8000,
    "system": [{"type": "text", "text": "You are a coding agent. " + "Work carefully and use the tools. " * 400}],
    "tools": [
        {"name": name, "description": f"tool {name}", "input_schema": {"type": "object", "properties": {}}}
        for name in ("Read", "Edit", "Write", "Bash", "Grep", "Glob", "TodoWrite", "Task", "WebFetch", "MultiEdit")
    ],
}


def run(options: Options) -> Report:
    """`laconic bench replay [tune|choose|report] [WORD]`: one part of the sessions; those whose name holds the word.

    `--quick` leaves out the policies of others: they take twice as long as ours.
    """
    count = counter("o200k_base")
    sessions = _find_sessions(options)
    paused: list[ReplayOutcome] = []
    steady: list[ReplayOutcome] = []
    peers: dict[str, tuple[list[ReplayOutcome], list[ReplayOutcome]]] = {}
    with HeadroomProcess(Path(options.cache)) as headroom:
        others: dict[str, Callable[[], Prepare]] = {}
        if not options.quick:
            others = _peers(count, headroom)
        for number, session in enumerate(sessions):
            options.progress(f"{number} of {len(sessions)} sessions replayed, now {session.name}")
            paused.append(outcome(session, count))
            steady.append(outcome(session, count, pauses=False))
            for name, make in others.items():
                found = peers.setdefault(name, ([], []))
                found[0].append(outcome(session, count, prepare=make()))
                found[1].append(outcome(session, count, pauses=False, prepare=make()))
    rows = _rows("", paused, steady)
    for name, outcomes in peers.items():
        rows += _rows(f", {name}", *outcomes)
    return Report(
        name="replay",
        corpus=f"{len(paused)} recorded sessions, {sum(one.turns for one in paused)} requests",
        tokenizer=count.name,
        rows=tuple(rows),
        bars=_bars(rows),
        notes=(
            "shares are of the same sessions without a policy; the cache is simulated: read 0.1, write 1.25",
            "net: with what it would cost to read again what was lost; warm: without the recorded pauses",
            _say_others(options),
            "sessions of one repository or developer are in one part: tune, choose or report; name one to see it alone",
        ),
        versions=versions("splintr-rs", "msgspec"),
    )


def _say_others(options: Options) -> str:
    if options.quick:
        return "the policies of others are left out"
    if installed(Path(options.cache), peer(HEADROOM)):
        return f"{HEADROOM} by its one-call interface, without its model for prose"
    return f"{HEADROOM} is not installed: `laconic bench peers install {HEADROOM}`"


def _find_sessions(options: Options) -> list[Transcript]:
    words = [word for word in options.args if word not in PARTS]
    parts = [word for word in options.args if word in PARTS] or PARTS
    found: list[Transcript] = []
    for session in transcripts(Path(options.data) / "trajectories"):
        if session.split not in {"", "dev"} or "/" not in session.name or not _long(session):
            continue
        if all(word in session.name for word in words) and part_of(session) in parts:
            found.append(session)
    return found


def _rows(policy: str, paused: Sequence[ReplayOutcome], steady: Sequence[ReplayOutcome]) -> list[dict[str, Cell]]:
    """A row for each family of clients, and one for all."""
    rows = [_row(family + policy, *_of(family, paused, steady)) for family in _families(paused)]
    return [*rows, _row("all" + policy, paused, steady)]


def _bars(rows: Sequence[dict[str, Cell]]) -> tuple[Bar, ...]:
    named = {str(row["agent"]): row for row in rows}
    total = named["all"]
    bars = [
        at_most("net cost", _figure(total, "net"), 0.62),
        at_most("net cost without pauses", _figure(total, "warm net"), 0.62),
        at_least("needed lines kept", _figure(total, "lines"), 0.985),
        at_least("needed identifiers kept", _figure(total, "names"), 0.97),
        at_most("re-reads in 1,000 turns", _figure(total, "rereads"), 1.5),
        at_most("dearest session", _figure(total, "worst"), 0.97),
        at_most("rules broken", _figure(total, "faults"), 0),
    ]
    for family, bound in (("claude-code", 0.60), ("mini-swe-agent", 0.78)):
        if family in named:
            bars.append(at_most(f"net cost, {family}", _figure(named[family], "net"), bound))
    return tuple(bars)


def _peers(count: Callable[[str], int], headroom: HeadroomProcess) -> dict[str, Callable[[], Prepare]]:
    """Policies that others use, each to be made anew for a session."""
    found: dict[str, Callable[[], Prepare]] = {
        "context editing at 100k": lambda: clear_above(100_000, 3, count),
        "results older than 10 masked": lambda: mask_older(10),
    }
    if headroom.version:
        found[f"Headroom {headroom.version}"] = headroom.whole
        found[f"Headroom {headroom.version}, what was sent stays"] = headroom.frozen
    return found


def _families(found: Sequence[ReplayOutcome]) -> list[str]:
    return list(dict.fromkeys(_family(one) for one in found))


def _family(one: ReplayOutcome) -> str:
    return one.name.split("/", 1)[0]


def _of(family: str, *runs: Sequence[ReplayOutcome]) -> list[list[ReplayOutcome]]:
    return [[one for one in run if _family(one) == family] for run in runs]


def outcome(
    session: Transcript,
    count: Callable[[str], int],
    options: EngineOptions | None = None,
    *,
    pauses: bool = True,
    prepare: Prepare | None = None,
) -> ReplayOutcome:
    """One session through an engine of its own, or through another policy."""
    clock = ReplayClock()
    engine = ConversationEngine(
        MemoryStore(), MemoryArchive(), clock, count, options or EngineOptions(task_tools=task_tools())
    )
    format = format_named("anthropic")
    return replay(
        session.name,
        HEAD,
        session.messages,
        prepare or (lambda body: engine.prepare(session.name, parse(format, body)).body),
        count=count,
        price=_CACHE,
        clock=clock,
        times=session.times if pauses else (),
    )


def _long(session: Transcript) -> bool:
    return sum(message["role"] == "assistant" for message in session.messages) >= _FEWEST


def _row(name: str, found: Sequence[ReplayOutcome], steady: Sequence[ReplayOutcome]) -> dict[str, Cell]:
    turns = sum(one.turns for one in found)
    return {
        "agent": name,
        "sessions": len(found),
        "turns": turns,
        "cold": sum(one.cold for one in found),
        "tokens": _share([(one.passed, one.tokens) for one in found]),
        "cost": _share([(one.passed_cost, one.cost) for one in found]),
        "net": _share([(one.net, one.cost) for one in found]),
        "warm cost": _share([(one.passed_cost, one.cost) for one in steady]),
        "warm net": _share([(one.net, one.cost) for one in steady]),
        "lines": _share([(one.lines_kept, one.lines) for one in found]),
        "names": _share([(one.names_kept, one.names) for one in found]),
        "rereads": 1000 * sum(one.rereads for one in found) / max(1, turns),
        "worst": max((one.net / one.cost for one in [*found, *steady]), default=0.0),
        "events": sum(one.events for one in found),
        "faults": sum(one.faults for one in found),
    }


def _share(pairs: Sequence[tuple[float, float]]) -> float:
    """All of the first figures as a share of all of the second."""
    base = sum(whole for _, whole in pairs)
    return sum(part for part, _ in pairs) / base if base else 1.0


def _figure(row: dict[str, Cell], name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else 0.0
