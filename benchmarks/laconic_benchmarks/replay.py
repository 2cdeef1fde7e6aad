"""Recorded sessions of several agents, turn by turn through the conversation engine with its default settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from laconic.clients.registry import task_tools
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.replay import Json, Outcome, replay
from laconic.models.model import Price
from laconic.render.table import Cell
from laconic.sessions.transcripts import Transcript, transcripts
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

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
    """`laconic bench replay [WORD]`: only sessions whose name holds the word."""
    wanted = options.args[0] if options.args else ""
    count = counter("o200k_base")
    outcomes: list[Outcome] = []
    for session in transcripts(Path(options.data) / "trajectories"):
        if session.split in {"", "dev"} and wanted in session.name and "/" in session.name and _long(session):
            options.progress(f"{len(outcomes)} sessions replayed, now {session.name}")
            outcomes.append(outcome(session, count))
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[one.name.split("/", 1)[0]].append(one)
    rows = [_row(name, found) for name, found in groups.items()] + [_row("all", outcomes)]
    total = rows[-1]
    worst = max((one.passed_cost / one.cost for one in outcomes), default=0.0)
    return Report(
        "replay",
        f"{len(outcomes)} recorded sessions, {sum(one.turns for one in outcomes)} requests",
        count.name,
        tuple(rows),
        (
            at_most("cost with caching", _figure(total, "cost"), 0.70),
            at_most("prompt tokens", _figure(total, "tokens"), 0.60),
            at_least("needed lines kept", _figure(total, "lines"), 0.99),
            at_least("needed identifiers kept", _figure(total, "names"), 0.97),
            at_most("dearest session", worst, 1.02),
            at_most("rules broken", _figure(total, "faults"), 0),
        ),
        ("cost: read 0.1, write 1.25 of an input token; shares are of the same sessions without the engine",),
        versions("splintr-rs", "msgspec"),
    )


def outcome(session: Transcript, count: Callable[[str], int], options: EngineOptions | None = None) -> Outcome:
    """One session through an engine of its own."""
    engine = ConversationEngine(
        MemoryStore(), MemoryArchive(), lambda: 0.0, count, options or EngineOptions(task_tools=task_tools())
    )
    format = format_named("anthropic")
    return replay(
        session.name,
        HEAD,
        session.messages,
        lambda body: engine.prepare(session.name, parse(format, body)).body,
        count=count,
        price=_CACHE,
    )


def _long(session: Transcript) -> bool:
    return sum(message["role"] == "assistant" for message in session.messages) >= _FEWEST


def _row(name: str, found: Sequence[Outcome]) -> dict[str, Cell]:
    def share(part: Callable[[Outcome], float], whole: Callable[[Outcome], float]) -> float:
        base = sum(map(whole, found))
        return sum(map(part, found)) / base if base else 1.0

    return {
        "agent": name,
        "sessions": len(found),
        "turns": sum(one.turns for one in found),
        "tokens": share(lambda one: one.passed, lambda one: one.tokens),
        "cost": share(lambda one: one.passed_cost, lambda one: one.cost),
        "lines": share(lambda one: one.lines_kept, lambda one: one.lines),
        "names": share(lambda one: one.names_kept, lambda one: one.names),
        "events": sum(one.events for one in found),
        "faults": sum(one.faults for one in found),
    }


def _figure(row: dict[str, Cell], name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else 0.0
