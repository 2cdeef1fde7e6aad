"""The benchmark of outputs: when a fact survives, and what its report says."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from laconic.cli.main import main
from laconic.errors import Unreadable
from laconic_benchmarks.corpus import SAMPLES
from laconic_benchmarks.outputs import Fact, Output, lost_facts, run
from laconic_benchmarks.report import Options, Report

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("view", "lost"),
    [
        ("a.py:12 error", False),
        ("\x1b[31ma.py\x1b[0m\n\n   12   error", False),
        ("a.py" + " x" * 200 + " 12 error", True),
        ("a.py " + "x " * 200 + "a.py 12 error", False),
        ("a.py 12", True),
    ],
    ids=["together", "coloured", "too far", "second place", "missing"],
)
def test_a_fact_survives_when_its_atoms_stand_together(view: str, lost: bool) -> None:
    fact = Fact("diagnostic", ("a.py", "12", "error"))
    assert bool(lost_facts([fact], view)) == lost


def test_the_report_names_what_was_lost(tmp_path: Path) -> None:
    text = "\n".join(f"2024-01-02 03:04:05 INFO step {n}" for n in range(500))
    facts = [{"kind": "step", "atoms": ["step 250"]}, {"kind": "step", "atoms": ["step 0"]}]
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "dev.jsonl").write_bytes(
        msgspec.json.encode({"id": "one", "category": "log", "text": text, "facts": facts})
    )
    report = run(Options(data=str(tmp_path), cache=""))
    assert report.notes == ("lost in one: step step 250",)
    assert {bar.name: bar.holds for bar in report.bars}["facts kept"] is False


def test_missing_data_says_how_to_name_it(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="--data"):
        run(Options(data=str(tmp_path), cache=""))


def test_the_samples_that_ship_are_measured_without_naming_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a fresh clone; and the README says what comes out."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("LACONIC_BENCH_DATA", raising=False)
    assert main(["bench", "outputs", "--json"]) == 0
    report = msgspec.json.decode(capsys.readouterr().out, type=Report)
    total = report.rows[-1]
    assert total["facts kept"] == 1
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    said = re.search(r"[Oo]n (\d+) outputs .*? all (\d+) facts .*? in (\d+) % of the tokens", readme)
    assert said is not None
    assert [int(number) for number in said.groups()] == [
        total["outputs"],
        total["facts"],
        round(100 * float(total["tokens kept"] or 0)),
    ]


def test_every_fact_of_the_samples_is_in_the_output_that_it_was_taken_from() -> None:
    for line in (SAMPLES / "outputs" / "dev.jsonl").read_bytes().splitlines():
        output = msgspec.json.decode(line, type=Output)
        assert output.facts, output.id
        assert lost_facts(output.facts, output.text) == [], output.id
