"""The agent mends ten small projects with real edits and real runs, whichever way its model calls tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.agent.stage import NAMES, agent_for, repair, scripted, settings_in


@pytest.mark.feature("P2", "P5", "P7")
@pytest.mark.parametrize("protocol", ["native", "prompted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_project_is_mended(tmp_path: Path, name: str, protocol: str) -> None:
    """Its own check fails before and passes after, run apart from the agent."""
    case = repair(name)
    if case.needs and shutil.which(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed")
    (tmp_path / "project").mkdir()
    root = case.set_up(tmp_path / "project")
    if protocol == "native":
        assert not case.passes(root)
    agent = agent_for(scripted(root, case.script, protocol=protocol), settings_in(tmp_path), case.task)
    try:
        answer = agent.work(case.task)
    finally:
        agent.close()
    assert "No rule" not in answer, agent.record.path.read_text("utf-8")
    assert case.passes(root)
    assert not agent.malformed
