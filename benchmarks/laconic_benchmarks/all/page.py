"""The whole report as Markdown, and its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from laconic import __version__
from laconic.render.table import Cell, format_cell
from laconic_benchmarks.all.parts import PARTS, Outcome
from laconic_benchmarks.chart import bars
from laconic_benchmarks.report import Report


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows of a part as bars."""

    part: str
    title: str
    label: str  # column of the labels
    value: str  # column of the figures
    where: Mapping[str, Cell] = field(default_factory=dict)  # rows that count
    ours: str = "laconic"


CHARTS: Final = (
    Chart("turns", "Sum of prompts for one task, tokens", "policy", "sum of prompts", {"tasks": "all"}, "code plane"),
    Chart("turns", "Turns for one task", "policy", "turns", {"tasks": "all"}, "code plane"),
    Chart("turns", "Functions to edit that were seen, share", "policy", "functions", {"tasks": "all"}, "code plane"),
    Chart("outputs", "Command outputs: tokens kept by kind, share", "category", "tokens kept", ours="all"),
    Chart("index", "Median time of a query, ms", "what", "p50 ms", ours="text search"),
    Chart("gateway", "Median wait for the first byte, ms", "what", "p50_ms", ours="first byte through the gateway"),
    Chart("fixed", "What a tool list costs in every prompt, tokens", "server", "tokens"),
    Chart("peers", "Ten questions: tokens of the answers", "by", "tokens", {"measure": "ten questions"}),
    Chart("peers", "Ten questions: answered right", "by", "right", {"measure": "ten questions"}),
    Chart("peers", "Told a task: functions to edit that are named, share", "by", "named"),
    Chart("peers", "Told a task: tokens", "by", "tokens", {"measure": "told a task"}),
    Chart("peers", "First build of the index, seconds", "by", "build s", {"measure": "ten questions"}),
    Chart("peers", "Command outputs: tokens kept, share", "by", "tokens kept"),
    Chart("peers", "Command outputs: facts kept, share", "by", "facts kept"),
)


def charts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Pictures by name, for the parts that have results."""
    reports = {each.name: each.report for each in outcomes if each.report is not None}
    made: dict[str, str] = {}
    for at, chart in enumerate(CHARTS):
        rows = _rows(chart, reports[chart.part]) if chart.part in reports else []
        if rows:
            made[f"{chart.part}-{at}"] = bars(chart.title, rows, chart.ours)
    return made


def markdown(outcomes: Sequence[Outcome], pictures: Sequence[str], *, quick: bool) -> str:
    sample = " Small samples: a first look, not figures to quote." if quick else ""
    parts = [
        "# Benchmarks",
        f"laconic {__version__}. Each part can be run again with `laconic bench NAME`.{sample}",
        _table([_line(each) for each in outcomes]),
    ]
    for each in outcomes:
        parts.append(f"## {each.name}")
        parts += [f"![]({'charts'}/{name}.svg)" for name in pictures if name.rsplit("-", 1)[0] == each.name]
        parts += _section(each)
    return "\n\n".join(parts) + "\n"


def _rows(chart: Chart, report: Report) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for row in report.rows:
        value = row.get(chart.value)
        if isinstance(value, int | float) and all(row.get(key) == wanted for key, wanted in chart.where.items()):
            found.append((str(row.get(chart.label)), float(value)))
    return found


def _line(outcome: Outcome) -> dict[str, Cell]:
    against = next((part.against for part in PARTS if part.name == outcome.name), "")
    held = f"{sum(bar.holds for bar in outcome.bars)} of {len(outcome.bars)}" if outcome.report else ""
    told = {"part": outcome.name, "state": outcome.state, "bars held": held}
    return {**told, "against": against, "seconds": round(outcome.seconds)}


def _section(outcome: Outcome) -> list[str]:
    report = outcome.report
    if report is None:
        return [f"No result: {outcome.reason}"]
    about = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    verdicts = "\n".join(
        f"- {'holds' if bar.holds else '**missed**'}: {bar.name} {format_cell(bar.value)} (wanted {bar.wanted})"
        for bar in report.bars
    )
    notes = "\n".join(f"- {note}" for note in report.notes)
    head = f"Corpus: {report.corpus}. Tokens: {report.tokenizer}. {about}."
    return [part for part in (head, _table(report.rows), verdicts, notes) if part]


def _table(rows: Sequence[dict[str, Cell]]) -> str:
    """Rows as a Markdown table; columns in order of first appearance."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if not columns:
        return ""
    lines = [columns, ["---"] * len(columns)]
    lines += [
        [format_cell(row.get(column)).replace("|", "\\|").replace("\n", " ") for column in columns] for row in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
