"""Replicas behind HAProxy with a PostgreSQL of their own: killed, restarted, and without their database for a while."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic_benchmarks.postgres_server import NoPostgres
from laconic_benchmarks.report import Options
from laconic_benchmarks.team import run

pytestmark = pytest.mark.flow


@pytest.mark.parametrize("part", ["replicas", "restart", "away", "keys", "hostile"])
def test_a_team_loses_nothing(part: str, tmp_path: Path) -> None:
    """Made-up sessions, each turn on a random replica: the same bytes as from one process, and every answer whole."""
    try:
        report = run(Options(data=str(tmp_path), cache=str(tmp_path), args=(part,), quick=True))
    except NoPostgres as error:
        pytest.skip(f"no replicas here: {error}")
    assert [bar for bar in report.bars if not bar.holds] == []
