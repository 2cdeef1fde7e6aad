"""Facts kept against tokens kept, over recorded outputs of real commands.

Without data of your own it measures on the samples that come with this package: commands run on this repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import Unreadable
from laconic.reduce.text import reduce_text
from laconic.tokens.count import counter
from laconic_benchmarks.corpus import SAMPLES
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_WINDOW: Final = 300  # characters within which all atoms of a fact must stand
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_CHARACTERS_PER_TOKEN: Final = 4  # how the recorded corpus was measured from outside
_MOST: Final = 0.35  # of the tokens of recorded outputs
_MOST_OF_SAMPLES: Final = (
    0.5  # those hold more patches and searches, of which little can go; as measured, to notice a loss
)


class Fact(msgspec.Struct, frozen=True):
    """Something that a reader of the output must still be able to see."""

    kind: str
    atoms: tuple[str, ...]


class Output(msgspec.Struct, frozen=True):
    """One recorded output."""

    id: str
    category: str
    text: str
    facts: tuple[Fact, ...]


class _Score(msgspec.Struct):
    outputs: int = 0
    facts: int = 0
    kept: int = 0
    tokens: int = 0
    tokens_kept: int = 0
    characters: int = 0
    characters_kept: int = 0
    empty: int = 0


def run(options: Options) -> Report:
    """Reduce every output without a budget and look for its facts."""
    path = Path(options.data) / "outputs" / "dev.jsonl"
    if not path.is_file():
        raise Unreadable(f"{path} is missing.", "Name the data with --data or LACONIC_BENCH_DATA.")
    decoder = msgspec.json.Decoder(Output)
    outputs = [decoder.decode(line) for line in path.read_bytes().splitlines() if line.strip()]
    cost = counter()
    scores: dict[str, _Score] = {}
    lost: list[str] = []
    for output in outputs:
        view = reduce_text(output.text, cost=cost, more="whole: laconic recall 0a1b2c3d").text
        missing = lost_facts(output.facts, view)
        lost += [f"lost in {output.id}: {fact.kind} {' / '.join(fact.atoms)}" for fact in missing]
        score = scores.setdefault(output.category, _Score())
        score.outputs += 1
        score.facts += len(output.facts)
        score.kept += len(output.facts) - len(missing)
        score.tokens += cost(output.text)
        score.tokens_kept += cost(view)
        score.characters += len(output.text)
        score.characters_kept += len(view)
        score.empty += not view.strip()
    samples = Path(options.data) == SAMPLES
    most = _MOST_OF_SAMPLES if samples else _MOST
    of = "real commands, run on this repository" if samples else "real commands"
    total = _Score(*(sum(values) for values in zip(*map(msgspec.structs.astuple, scores.values()), strict=True)))
    rows = [_row(name, score) for name, score in sorted(scores.items())]
    return Report(
        name="outputs",
        corpus=f"{len(outputs)} outputs of {of}, {total.facts} facts, {total.characters:,} characters",
        tokenizer=cost.name,
        rows=(*rows, _row("all", total)),
        bars=(
            at_least("facts kept", total.kept / total.facts, 0.97),
            at_most("tokens kept", total.tokens_kept / total.tokens, most),
            at_most("characters / 4 kept", total.characters_kept / total.characters, most),
            at_least("facts kept in the worst category", min(s.kept / s.facts for s in scores.values()), 0.9),
            at_most("outputs left empty", total.empty, 0),
        ),
        notes=tuple(lost),
        versions=versions("splintr-rs"),
    )


def lost_facts(facts: Sequence[Fact], view: str) -> list[Fact]:
    """Facts whose atoms no longer stand together, white space and colour aside."""
    folded = _fold(view)
    return [fact for fact in facts if not _survives([_fold(atom).strip() for atom in fact.atoms], folded)]


def _survives(atoms: Sequence[str], text: str) -> bool:
    if not all(atoms):
        return False
    first, *others = atoms
    start = text.find(first)
    while start >= 0:
        near = text[max(0, start - _WINDOW) : start + _WINDOW + len(first)]
        if all(atom in near for atom in others):
            return True
        start = text.find(first, start + len(first))
    return False


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", _ANSI.sub("", text))


def _row(name: str, score: _Score) -> dict[str, str | int | float | bool | None]:
    return {
        "category": name,
        "outputs": score.outputs,
        "facts": score.facts,
        "facts kept": score.kept / score.facts,
        "tokens": score.tokens,
        "tokens kept": score.tokens_kept / score.tokens,
        f"characters / {_CHARACTERS_PER_TOKEN} kept": score.characters_kept / score.characters,
    }
