"""Clients that break their own cache, and a gateway that repairs it: what is read from the cache, and is it the same?

A simulated agent changes the form of its prompt in the middle of a session: the order of tools, the order of keys, a
cache mark out of reach, a server that goes and comes back. The provider is simulated. Every other request is prepared by
an engine that has never seen the session. The share of what the cache held that the changed request reads is
compared with and without the repair, and everything that is sent is compared with what the client meant.

`laconic bench repair [--seed N]`: the seeds that are reported were not used while the rules were written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.render.table import Cell
from laconic.sessions.ledger_store import LedgerFile
from laconic.tokens.count import counter
from laconic.wire.cache_rules import FIVE_MINUTES
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions
from laconic_benchmarks.why.planted import MODELS, PlantedClient, SimulatedProvider

Json = dict[str, Any]
_SEED: Final = 9_000
_SESSIONS: Final = 10  # of each class
_BEFORE: Final = 12  # requests before the change
_COUNT: Final = counter(MODELS["anthropic"][0])


def _reorder(client: PlantedClient) -> None:
    client.answer()
    client.reorder_tools()


def _rewrite_schemas(client: PlantedClient) -> None:
    client.answer()
    client.rewrite_json()


def _rewrite_arguments(client: PlantedClient) -> None:
    client.rewrite_arguments()
    client.answer()


def _move_mark(client: PlantedClient) -> None:
    client.answer(calls=15, size=120)


def _regain(client: PlantedClient) -> None:
    client.answer()
    client.regain_server()


FAULTS: Final[dict[str, Callable[[PlantedClient], None]]] = {
    "order of tools": _reorder,
    "keys in schemas": _rewrite_schemas,
    "keys in arguments": _rewrite_arguments,
    "mark out of reach": _move_mark,
    "server lost and regained": _regain,
}


class RepairOutcome(msgspec.Struct, frozen=True):
    """One session: what the changed request read of what a cache held, and requests that said something else."""

    hit: float
    changed: int


def run(options: Options) -> Report:
    """All classes, with the repair and without."""
    seed = options.seed or _SEED
    count = 2 if options.quick else _SESSIONS
    rows: list[dict[str, Cell]] = []
    for name, fault in FAULTS.items():
        options.progress(name)
        with_repair = [_play(fault, seed + number, repair=True) for number in range(count)]
        without = [_play(fault, seed + number, repair=False) for number in range(count)]
        rows.append(
            {
                "class": name,
                "sessions": count,
                "read without": sum(one.hit for one in without) / count,
                "read with": sum(one.hit for one in with_repair) / count,
                "worst with": min(one.hit for one in with_repair),
                "said something else": sum(one.changed for one in with_repair),
            }
        )
    return Report(
        "repair",
        f"{count} generated sessions of each class, seed {seed}",
        "none",
        tuple(rows),
        (
            at_least("read from the cache in spite of a fault, worst session", _least(rows, "worst with"), 0.95),
            at_most("read without the repair, best class", max(float(row["read without"] or 0) for row in rows), 0.9),
            at_most(
                "requests that said something else", sum(int(row["said something else"] or 0) for row in rows), 0
            ),
        ),
        versions=versions(),
    )


def _least(rows: list[dict[str, Cell]], column: str) -> float:
    return min(float(row[column] or 0) for row in rows)


def _play(fault: Callable[[PlantedClient], None], seed: int, *, repair: bool) -> RepairOutcome:
    random = Random(seed)
    client = PlantedClient(random, MODELS["anthropic"], FIVE_MINUTES, marked=1)
    provider = SimulatedProvider(format_named("anthropic").cache)
    options = EngineOptions(enabled=False, repair=repair)
    changed, held = 0, 0
    hit = 1.0
    with TemporaryDirectory(prefix="laconic-repair-") as folder:
        ledger = LedgerFile(Path(folder) / "ledger.sqlite", LedgerEntry, Branch)
        with closing(ledger):
            stays = _engine(ledger, provider, options)
            for number in range(_BEFORE + 2):
                if number == _BEFORE and fault is _regain:
                    client.answer()
                    client.lose_server()
                elif number > _BEFORE:
                    fault(client)
                elif number:
                    client.answer()
                provider.now += 20
                body = client.body()
                engine = stays if number % 2 else _engine(ledger, provider, options)
                prepared = engine.prepare("s", parse(format_named("anthropic"), json.dumps(body).encode()))
                sent = json.loads(prepared.body)
                changed += _meaning(sent) != _meaning(body)
                usage = provider.send(sent, 50)
                if number > _BEFORE:
                    hit = usage.cache_read / held
                elif number < _BEFORE or fault is not _regain:
                    held = usage.cache_read + usage.cache_write
    return RepairOutcome(hit, changed)


def _engine(
    ledger: LedgerFile[LedgerEntry, Branch], provider: SimulatedProvider, options: EngineOptions
) -> ConversationEngine:
    return ConversationEngine(ledger, MemoryArchive(), lambda: provider.now, _COUNT, options, forms=ledger)


def _meaning(body: Json) -> Json:
    """What a model can tell apart: tools by their names, and everything else but cache marks."""
    plain = json.loads(json.dumps(body), object_hook=_drop_mark)
    assert isinstance(plain, dict)
    return {**plain, "tools": sorted(plain["tools"], key=lambda tool: str(tool["name"]))}


def _drop_mark(found: Json) -> Json:
    found.pop("cache_control", None)
    return found
