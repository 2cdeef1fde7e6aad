"""Attack conversations: random sessions through gateways that are restarted, doubled, broken and misled.

After every step the laws are checked: nothing is refused, nothing is lost, the request stays valid and gets no larger,
an undisturbed twin sends the same bytes, what was sent stays as it was, and references stay good.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Final

from laconic.render.table import Cell
from laconic_benchmarks.attack.gateways import build_planner
from laconic_benchmarks.attack.world import AttackTally, BrokenLaw, BuildGateway, World
from laconic_benchmarks.report import Options, Progress, Report, at_most, versions

LAWS: Final = {
    "failed": "requests that our code failed on",
    "lost": "texts that are neither sent nor recalled by a reference in the request",
    "rewritten": "texts that are sent in another form, with no reference to the original",
    "invalid": "requests that are no valid JSON",
    "pairing": "calls and results that lost each other",
    "order": "messages that must stay and are gone",
    "altered": "signatures, numbers or fields that changed",
    "larger": "requests that became larger",
    "different": "sessions whose bytes depend on the process",
    "prefix": "requests that changed what was sent, without an event",
    "reference": "references that went bad",
}
_DEFAULT: Final = 20_000
_QUICK: Final = 2_000


def run(options: Options) -> Report:
    """So many steps from a seed on; each world of a few hundred steps has a seed of its own."""
    steps = options.steps or (_QUICK if options.quick else _DEFAULT)
    tally = attack(options.seed, steps, progress=options.progress)
    row: dict[str, Cell] = {
        "steps": sum(tally.steps.values()),
        "sessions": tally.sessions,
        "restarts": tally.restarts,
        "faults": tally.faults,
        "events": tally.events,
        "made smaller": tally.reduced,
        "compared": tally.compared,
        **{law: tally.broken[law] for law in LAWS},
    }
    return Report(
        name="attack",
        corpus=f"generated conversations in four formats, seed {options.seed}",
        tokenizer="o200k_base",
        rows=(row,),
        bars=tuple(at_most(said, tally.broken[law], 0) for law, said in LAWS.items()),
        notes=tuple(describe(failure) for failure in tally.first.values()),
        versions=versions(),
    )


def attack(
    seed: int, steps: int, build: BuildGateway = build_planner, progress: Progress | None = None
) -> AttackTally:
    """Worlds, one after the other, until the steps are done."""
    tally = AttackTally()
    log = logging.getLogger("laconic.gateway")
    was, log.disabled = log.disabled, True  # it is made to fail on purpose
    try:
        while (done := sum(tally.steps.values())) < steps:
            with tempfile.TemporaryDirectory(prefix="laconic-attack-") as folder:
                World(seed, Path(folder), tally, build).run(steps - done)
            seed += 1
            if progress is not None:
                progress(f"{sum(tally.steps.values())} of {steps} steps, {sum(tally.broken.values())} broken laws")
    finally:
        log.disabled = was
    return tally


def describe(failure: BrokenLaw) -> str:
    """What a person needs to act on it."""
    return (
        f"{failure.violation.law}: seed {failure.seed}, step {failure.step} ({failure.did}), {failure.format}: "
        f"{failure.violation.detail}; again: laconic bench attack --seed {failure.seed} --steps {failure.step}"
    )
