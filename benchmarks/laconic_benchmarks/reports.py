"""Reports of analysers against the tools' own summaries: every finding found, none invented.

The outputs, one file each, are in the folder that the first word names, or in `reports` of the recorded data, or with
the tests of a checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from laconic.reduce.findings import read
from laconic.reduce.findings.select import FindingFilter
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.tool_runtime.compose import compose
from laconic.tools.report import answer
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_CHECKOUT: Final = Path("tests", "corpus", "reports")


def run(options: Options) -> Report:
    """Read every file of a folder."""
    folder = Path(options.args[0]) if options.args else Path(options.data) / "reports"
    if not options.args and not folder.is_dir() and _CHECKOUT.is_dir():
        folder = _CHECKOUT
    count = counter()
    rows: list[dict[str, Cell]] = []
    for file in sorted(folder.iterdir()):
        output = file.read_text("utf-8", "replace")
        found = read(output)
        text = compose(answer(file.parent, found, FindingFilter()), 10_000, count, more=str).text
        rows.append(
            {
                "file": file.name,
                "tool": found.tool,
                "findings": len(found.items),
                "claimed": found.claimed,
                "tokens": count(output),
                "answered": count(text),
            }
        )
    wrong = sum(row["claimed"] is not None and row["claimed"] != row["findings"] for row in rows)
    return Report(
        name="reports",
        corpus=f"{len(rows)} outputs of analysers and test runs",
        tokenizer=count.name,
        rows=tuple(rows),
        bars=(
            at_most("outputs whose own count differs", wrong, 0),
            at_least("outputs that say a count", sum(row["claimed"] is not None for row in rows), 12),
        ),
        versions=versions(),
    )
