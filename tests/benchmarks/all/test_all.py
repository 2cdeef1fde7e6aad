"""The whole report: every benchmark is a part of it, results are kept, and what has no result is said."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from laconic.errors import UnknownName
from laconic.render.table import Cell, format_cell
from laconic_benchmarks import all as whole
from laconic_benchmarks.all.page import charts, markdown
from laconic_benchmarks.all.parts import PARTS, Outcome
from laconic_benchmarks.chart import bars
from laconic_benchmarks.command import names
from laconic_benchmarks.report import Options, Report, at_most

ROOT = Path(__file__).resolve().parents[3]


def _options(folder: Path, *parts: str, fresh: bool = False, heard: list[str] | None = None) -> Options:
    heard = [] if heard is None else heard

    def hear(said: str) -> None:
        heard.append(said)

    return Options(
        str(folder / "no data"),
        str(folder / "cache" / "corpora"),
        parts,
        quick=True,
        out=str(folder / "out"),
        fresh=fresh,
        progress=hear,
    )


def test_every_benchmark_is_a_part_and_is_described() -> None:
    page = (ROOT / "docs" / "measuring.md").read_text("utf-8")
    assert {part.name for part in PARTS} | {"all"} == set(names())
    assert [name for name in names() if f"`{name}`" not in page and f"bench {name}" not in page] == []


def test_a_run_writes_json_markdown_and_keeps_each_part(tmp_path: Path) -> None:
    said: list[str] = []
    report = whole.run(_options(tmp_path, "fit", "outputs", heard=said))
    out = tmp_path / "out"
    written = json.loads((out / "report.json").read_text("utf-8"))
    assert [each["name"] for each in written] == ["fit", "outputs"]
    assert written[0]["report"]["rows"]
    assert "no data" in written[1]["reason"]
    page = (out / "report.md").read_text("utf-8")
    assert "## fit" in page
    assert "No result: laconic:" in page
    assert [path.name for path in (out / "parts").iterdir()] == ["fit.json"]
    assert report.bars[0].value == 1
    assert not report.bars[0].holds
    assert [line.split(" ", 1)[0] for line in said] == ["[1/2]", "[1/2]", "[2/2]", "[2/2]"]


def test_a_kept_part_is_not_measured_again(tmp_path: Path) -> None:
    kept = Outcome("fit", "ok", 1.0, report=Report("fit", "kept", "none", ({"what": "kept"},)), quick=True)
    folder = tmp_path / "out" / "parts"
    folder.mkdir(parents=True)

    (folder / "fit.json").write_bytes(msgspec.json.encode(kept))
    report = whole.run(_options(tmp_path, "fit"))
    assert report.rows[0]["corpus"] == "kept"


def test_an_unknown_part_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="turns"):
        whole.run(_options(tmp_path, "turn"))


def test_charts_are_well_formed_and_scale_to_the_longest_bar() -> None:
    picture = ElementTree.fromstring(bars("A < B", [("laconic", 50.0), ("other & co", 100.0)], "laconic"))
    widths = [int(rect.attrib["width"]) for rect in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths[0] * 2 == widths[1]
    assert "A < B" in "".join(picture.itertext())


def test_the_page_says_which_bar_is_missed_and_shows_its_charts() -> None:
    rows: tuple[dict[str, Cell], ...] = (
        {"tasks": "all", "policy": "code plane", "sum of prompts": 10.0, "turns": 2.0, "functions": 1.0},
    )
    outcome = Outcome("turns", "bars missed", 1.0, report=Report("turns", "x", "o", rows, (at_most("cost", 2, 1),)))
    pictures = charts([outcome])
    page = markdown([outcome], list(pictures), quick=False)
    assert "**missed**: cost 2 (wanted at most 1)" in page
    assert all(f"charts/{name}.svg" in page for name in pictures)
    assert len(pictures) == 3


def test_a_part_that_measured_on_less_is_a_sample_whose_bars_do_not_count(tmp_path: Path) -> None:
    report = whole.run(_options(tmp_path, "powercut"))
    assert report.rows[0]["state"] == "sample"
    assert [bar.name for bar in report.bars] == ["parts without a result"]


def test_the_report_is_there_after_every_part(tmp_path: Path) -> None:
    """When the second part begins, the first stands in the report."""
    found: list[bool] = []

    def look(said: str) -> None:
        page = tmp_path / "out" / "report.md"
        found.append(page.exists() and "## fit" in page.read_text("utf-8"))

    options = _options(tmp_path, "fit", "outputs")
    whole.run(msgspec.structs.replace(options, progress=look))
    assert found == [False, False, True, True]


def test_what_is_next_to_nothing_is_written_as_nothing() -> None:
    assert (format_cell(5.2e-05), format_cell(0.0123456), format_cell(12345.6)) == ("0", "0.01235", "12346")
