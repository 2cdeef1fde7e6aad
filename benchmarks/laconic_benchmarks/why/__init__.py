"""Causes of cost that were planted in generated sessions: how many `laconic why` finds, and how many it makes up.

Sessions of a simulated agent run against a simulated provider, with causes and harmless events at known requests. They
are written as Claude Code, Codex and opencode record them, and through the gateway's exchange into its own record. A
transcript shows no tools and no system prompt, so a change of those counts as found when it is named as one of the two.
A planted change that lost less than 1,024 tokens, or 5 % of a prompt, counts as no cause.

`laconic bench why [--seed N]`: the seeds that are reported were not used while the rules were written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from laconic.clients.recorded_sessions import read_recorded
from laconic.conversation.cost_causes import MeasuredSession, explain
from laconic.exchange.cost_sources import measure_own, measure_recorded
from laconic.models.find_model import find_model
from laconic.render.table import Cell
from laconic.sessions.spending import Spending
from laconic.wire.cache_rules import FIVE_MINUTES, HOUR
from laconic.wire.formats import format_named
from laconic_benchmarks.report import Options, Report, at_least, versions
from laconic_benchmarks.why.clients import write_claude, write_codex, write_opencode
from laconic_benchmarks.why.gateway import RecordingGateway
from laconic_benchmarks.why.planted import DIRECT, HARMLESS, MODELS, PlantedClient, SentTurn, SimulatedProvider, play

Truth = dict[tuple[str, int], str]  # session and request -> its cause
_SEED: Final = 4_000  # the seeds below were used while the rules were written
_SESSIONS: Final = 12  # of each source
_LEAST: Final = 1_024  # tokens that a cause loses
_SHARE: Final = 0.05  # of a prompt
_HIDDEN: Final = frozenset({"tools_changed", "tools_reordered", "json_rewritten", "system_changed"})
_BOTH: Final = ("pause_1h + tools_changed", "pause_1h + model_switch", "pause_1h + compaction")
_WRITERS: Final[dict[str, Callable[[Path, str, Sequence[SentTurn]], None]]] = {
    "Claude Code": write_claude,
    "Codex": write_codex,
    "opencode": write_opencode,
}
_GATEWAY: Final = "gateway"


class PlantedSource(msgspec.Struct, frozen=True):
    """Sessions in one form, and the truth about them."""

    name: str
    sessions: list[MeasuredSession]
    truth: Truth


def run(options: Options) -> Report:
    """All sources."""
    seed = options.seed or _SEED
    count = 3 if options.quick else _SESSIONS
    rows: list[dict[str, Cell]] = []
    right: Counter[str] = Counter()
    made_up: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for number, name in enumerate((*_WRITERS, _GATEWAY)):
        options.progress(name)
        with TemporaryDirectory(prefix="laconic-why-") as folder:
            source = _generate(name, Path(folder), seed + 100 * number, count)
        found = {}
        for moment in explain(source.sessions, lambda model: find_model(model).price).moments:
            found[moment.session, moment.number] = str(moment.cause)
        _compare(name, source.truth, found, rows)
        for place in source.truth.keys() | found.keys():
            planted, named = source.truth.get(place, ""), found.get(place, "")
            right[planted] += planted == named
            missed[planted] += bool(planted) and planted != named
            made_up[named] += bool(named) and planted != named
    total = sum(right.values()) + sum(missed.values())
    classes = [cause for cause in right | missed if cause]
    precision = sum(right.values()) / max(1, sum(right.values()) + sum(made_up.values()))
    recall = sum(right.values()) / max(1, total)
    return Report(
        "why",
        f"{total} planted causes of {len(classes)} classes in {count} generated sessions of each source, seed {seed}",
        "none",
        tuple(rows),
        (
            at_least("planted causes", total, 1 if options.quick else 200),
            at_least("classes", len(classes), 8),
            at_least("precision", precision, 0.95),
            at_least("recall", recall, 0.95),
            at_least("recall of the worst class", min(_share(right[c], missed[c]) for c in classes), 0.95),
            at_least("precision of the worst class", min(_share(right[c], made_up[c]) for c in classes), 0.95),
        ),
        versions=versions(),
    )


def _compare(source: str, truth: Truth, found: Truth, rows: list[dict[str, Cell]]) -> None:
    for cause in sorted({*truth.values(), *found.values()}):
        planted = {place for place, name in truth.items() if name == cause}
        named = {place for place, name in found.items() if name == cause}
        rows.append(
            {
                "source": source,
                "cause": cause,
                "planted": len(planted),
                "named": len(named),
                "right": len(planted & named),
            }
        )


def _generate(name: str, folder: Path, seed: int, count: int) -> PlantedSource:
    truth: Truth = {}
    for number in range(count):
        random = Random(seed + number)
        label = f"s{number:03}"
        is_automatic = name == "Codex"
        ttl = HOUR if number % 4 == 3 and not is_automatic else FIVE_MINUTES
        provider = SimulatedProvider(format_named("chat" if is_automatic else "anthropic").cache)
        client = PlantedClient(random, MODELS["openai" if is_automatic else "anthropic"], ttl)
        causes = [*DIRECT, *HARMLESS, *_BOTH]
        if is_automatic:
            causes.remove("marks_moved")
        if name == _GATEWAY:
            gateway = RecordingGateway(folder / "turns.sqlite", label, provider, partial(random.randrange, 40, 400))
            with closing(gateway):
                turns = list(play(client, provider, random, [*causes, "own_event"], gateway.send))
        else:
            turns = list(play(client, provider, random, causes))
            _WRITERS[name](folder, label, turns)
        if is_automatic:
            label = f"rollout-{label}"
        truth |= _find_truth(
            label, turns, ttl if not is_automatic else format_named("chat").cache.lifetime, hides=name != _GATEWAY
        )
    if name == _GATEWAY:
        with closing(Spending(folder / "turns.sqlite")) as spending:
            return PlantedSource(name, list(measure_own(spending)), truth)
    return PlantedSource(name, list(measure_recorded(read_recorded(folder))), truth)


def _find_truth(label: str, turns: Sequence[SentTurn], lifetime: float, *, hides: bool) -> Truth:
    """What cost something: a pause that the cache survived did not, nor did a change of the last few words."""
    found: Truth = {}
    for number, (before, turn) in enumerate(pairwise(turns), 2):
        cause = turn.planted.split(" + ")[0]
        if not cause or cause in HARMLESS:
            continue
        if cause.startswith("pause") and turn.at - before.at < lifetime:
            continue
        lost = before.usage.prompt - turn.usage.cache_read
        if cause != "compaction" and lost < max(_LEAST, _SHARE * before.usage.prompt):
            continue
        if hides and cause in _HIDDEN:
            cause = "prefix_changed"
        found[label, number] = cause
    return found


def _share(right: int, wrong: int) -> float:
    if right + wrong:
        return right / (right + wrong)
    return 1.0
