"""What changed between two states of a repository: by symbol with its risk, or as hunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import UsageError
from laconic.index.compare.risk import RISKS, weigh
from laconic.index.compare.symbols import Compared, Comparison, compare
from laconic.records import FileChange, Impact, Omission, SymbolChange, Weighed
from laconic.reduce.fit import LEFT_OUT, Item, fit
from laconic.reduce.hunks import Chosen, choose
from laconic.render.changes import DETAILS, file_line, hunk_text, symbol_line, totals, within_line
from laconic.render.changes_json import compact, full
from laconic.render.footer import footer
from laconic.workspace.revisions import changes, patched, states

Cost = Callable[[str], int]
Asked = Callable[[SymbolChange], Impact]
_CONTEXT: Final = 3


def changed(root: Path, wanted: str = "", paths: Sequence[str] = (), *, context: int = 0) -> list[FileChange]:
    """The files that differ; `wanted` names two states, or a patch file."""
    words = wanted.strip()
    if words.endswith((".patch", ".diff")) and (root / words).is_file():
        return patched(root, (root / words).read_bytes())
    return changes(root, states(root, words), paths, context)


def by_symbol(
    files: Sequence[FileChange],
    cost: Cost,
    *,
    detail: str = "standard",
    budget: int = 6000,
    impact: Asked | None = None,
) -> str:
    """Files and symbols, the riskiest first to stay when the budget is short, in the order of the files."""
    if detail not in DETAILS:
        raise UsageError(f"There is no detail {detail!r}.", f"Use one of: {', '.join(DETAILS)}.")
    found = compare(files)
    items = weighed(found, impact)
    heads = [_head(file) for file in found.files]
    first = totals(len(items), len(found.files), items)
    if detail == "minimal" or not items:
        return _fitted([first, *heads], cost, budget, "files")
    room = budget - cost("\n".join([first, *heads])) - 2
    if room <= 0:
        return _fitted([first, *heads], cost, budget, "files")
    shown, note = _chosen(items, detail, cost, room)
    lines = [first]
    for file, head in zip(found.files, heads, strict=True):
        lines += [head, *shown.get(file.change.path, ())]
    return "\n".join([*lines, note] if note else lines)


def as_json(found: Comparison, *, detail: str = "compact", impact: Asked | None = None) -> str:
    """The changed symbols for programs."""
    form = full if detail == "full" else compact
    files = [{"path": f.change.path, "status": f.change.status} for f in found.files if not f.code]
    made = {"changes": [form(item) for item in weighed(found, impact)], "files": files}
    return msgspec.json.encode(made).decode()


def weighed(found: Comparison, impact: Asked | None = None) -> list[Weighed]:
    """Every changed symbol with its risk."""
    return [weigh(change, impact(change) if impact else None) for change in found.symbols]


def hunks(files: Sequence[FileChange], cost: Cost, *, budget: int = 6000) -> str:
    """Unified hunks without those of white space only: the first twenty, and a summary of every file."""
    chosen = choose(files)
    total = sum(one.total for one in chosen)
    shown = sum(len(one.hunks) for one in chosen)
    parts = [f"{len(files)} files, {total} hunks"] if shown < total or len(files) > 1 else []
    for one in chosen:
        parts.append(_hunk_head(one))
        parts += [hunk_text(hunk) for hunk in one.hunks]
    return _fitted(parts, cost, budget, "parts")


def _head(file: Compared) -> str:
    bodies = [line for hunk in file.change.hunks for line in hunk.body]
    added, removed = sum(line[:1] == "+" for line in bodies), sum(line[:1] == "-" for line in bodies)
    if file.change.status == "added" and file.new:
        added = file.new.parsed.lines
    return file_line(file.change, added, removed, file.imports if file.code else ())


def _hunk_head(one: Chosen) -> str:
    bodies = [line for hunk in one.change.hunks for line in hunk.body]
    added, removed = sum(line[:1] == "+" for line in bodies), sum(line[:1] == "-" for line in bodies)
    line = file_line(one.change, added, removed)
    missing = one.total - len(one.hunks)
    line += f"; {missing} hunks not shown" if missing else ""
    return line + (f"; {one.blank} of white space only left out" if one.blank else "")


def _chosen(items: list[Weighed], detail: str, cost: Cost, room: int) -> tuple[dict[str, list[str]], str]:
    """The lines of symbols by file; each is short or at the detail asked for, as it fits."""
    alone = [item for item in items if not item.change.within]
    texts = [(symbol_line(item, "compact"), _with_members(item, items, detail)) for item in alone]
    order = sorted(range(len(alone)), key=lambda i: -RISKS.index(alone[i].risk))
    entries = [Item((cost(texts[i][0]) + 1, max(cost(texts[i][0]), cost(texts[i][1])) + 1)) for i in order]
    fitted = fit(entries, room, footer=30, spread=8.0)
    levels = dict(zip(order, fitted.levels, strict=True))
    shown: dict[str, list[str]] = {}
    for index, item in enumerate(alone):
        if levels[index] != LEFT_OUT:
            shown.setdefault(item.change.path, []).append(texts[index][levels[index]])
    return shown, footer(Omission(fitted.shown, len(alone), "symbols", "diff with a path")).rstrip()


def _with_members(item: Weighed, items: list[Weighed], detail: str) -> str:
    text = symbol_line(item, detail)
    change = item.change
    prefix = f"{change.name}."
    inner = [
        one
        for one in items
        if one.change.within and one.change.path == change.path and one.change.name.startswith(prefix)
        and one.change.changes == change.changes
    ]  # fmt: skip
    return f"{text}\n{within_line(inner)}" if inner and detail != "compact" else text


def _fitted(parts: list[str], cost: Cost, budget: int, unit: str) -> str:
    """As many parts as fit, in order."""
    fitted = fit([Item((cost(part) + 1,)) for part in parts], budget, footer=30)
    shown = [part for part, level in zip(parts, fitted.levels, strict=True) if level != LEFT_OUT]
    note = footer(Omission(len(shown), len(parts), unit, "diff with a path"))
    return "\n".join([*shown, note.rstrip()] if note else shown)
