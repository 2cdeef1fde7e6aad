"""Every benchmark, one report: JSON, Markdown and charts in a folder.

`laconic bench all [NAME...] [--quick] [--out FOLDER] [--fresh]`. Each part runs in a process of its own and its result is
kept, so that a run that was broken off goes on where it stopped; the report is written anew after every part. A part
that fails, takes too long or lacks its data stands in the report as such.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from laconic.errors import UnknownName
from laconic.render.table import Cell
from laconic_benchmarks.all.page import charts, markdown
from laconic_benchmarks.all.parts import PARTS, SAMPLE, Outcome, measured
from laconic_benchmarks.report import Bar, Options, Report, at_most, versions


def run(options: Options) -> Report:
    """Measure what the folder does not hold yet; the report grows with every part."""
    known = {part.name: part for part in PARTS}
    for word in options.args:
        if word not in known:
            raise UnknownName("part", word, tuple(known))
    folder = Path(options.out or Path(options.cache).parent / "reports" / ("quick" if options.quick else "full"))
    (folder / "charts").mkdir(parents=True, exist_ok=True)
    wanted = [known[name] for name in options.args] or PARTS
    outcomes: list[Outcome] = []
    for at, part in enumerate(wanted, 1):
        options.progress(f"[{at}/{len(wanted)}] {part.name} ...")
        outcome = measured(part, folder / "parts", options)
        why = f" ({outcome.reason})" if outcome.reason else ""
        options.progress(f"[{at}/{len(wanted)}] {part.name}: {outcome.state}{why}, {outcome.seconds:.0f} s")
        outcomes.append(outcome)
        _write(folder, outcomes, quick=options.quick)
    return _summary(outcomes, folder)


def _write(folder: Path, outcomes: list[Outcome], *, quick: bool) -> None:
    """The report so far: one that is broken off is there to be read, too."""
    pictures = charts(outcomes)
    for name, picture in pictures.items():
        (folder / "charts" / f"{name}.svg").write_text(picture, "utf-8")
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(outcomes), indent=1))
    (folder / "report.md").write_text(markdown(outcomes, list(pictures), quick=quick), "utf-8")


def _summary(outcomes: list[Outcome], folder: Path) -> Report:
    rows: list[dict[str, Cell]] = [
        {
            "part": each.name,
            "state": each.state,
            "bars held": f"{sum(bar.holds for bar in each.bars)} of {len(each.bars)}" if each.report else None,
            "seconds": round(each.seconds, 1),
            "corpus": each.report.corpus if each.report else each.reason,
        }
        for each in outcomes
    ]
    missed = [
        Bar(f"{each.name}: {bar.name}", bar.value, bar.wanted, bar.holds)
        for each in outcomes
        for bar in each.bars
        if not bar.holds and each.state != SAMPLE
    ]
    silent = sum(each.report is None for each in outcomes)
    return Report(
        "all",
        f"{len(outcomes)} benchmarks",
        "each part names its own",
        tuple(rows),
        (at_most("parts without a result", silent, 0), *missed),
        (f"report: {folder / 'report.md'}",),
        versions(),
    )
