"""The benchmark of outputs: when a fact survives, and what its report says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from laconic.errors import Unreadable
from laconic_benchmarks.outputs import Fact, lost_facts, run
from laconic_benchmarks.report import Options


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
