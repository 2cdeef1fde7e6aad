"""Planted causes are named, and broken caches are repaired, in sessions that a seed makes."""

from __future__ import annotations

from laconic_benchmarks import repair, why
from laconic_benchmarks.report import Options


def test_planted_causes_are_named() -> None:
    report = why.run(Options(data="", cache="", quick=True, seed=50))
    assert [bar.name for bar in report.bars if not bar.holds] == []
    assert {row["source"] for row in report.rows} == {"Claude Code", "Codex", "opencode", "gateway"}


def test_faults_of_clients_cost_no_cache() -> None:
    report = repair.run(Options(data="", cache="", quick=True, seed=50))
    assert [bar.name for bar in report.bars if not bar.holds] == []
    assert len(report.rows) == len(repair.FAULTS)
