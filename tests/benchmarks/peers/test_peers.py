"""Peers: asked through the protocol, found by their environment, and named when they are not there."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from laconic.errors import CommandFailed, UnknownName
from laconic.render.table import Cell
from laconic_benchmarks import fixed
from laconic_benchmarks.peers import verdicts
from laconic_benchmarks.peers.client import Client
from laconic_benchmarks.peers.compressing import compressed
from laconic_benchmarks.peers.environments import PEERS, install, installed, peer
from laconic_benchmarks.peers.passing import passed_on
from laconic_benchmarks.report import Options


def test_a_real_server_lists_its_tools_and_answers(tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text("def total(lines):\n    return sum(lines)\n")
    cache = {"LACONIC_CACHE_DIR": str(tmp_path / "cache")}
    with closing(Client([sys.executable, "-m", "laconic", "mcp"], tmp_path, cache)) as client:
        assert "search" in {tool["name"] for tool in client.tools()}
        assert client.instructions
        assert "def total" in client.call("inspect", {"symbol": "total"})


def test_a_server_that_ends_or_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="ended before it answered initialize"):
        Client([sys.executable, "-c", "print('hello')"], tmp_path)
    with pytest.raises(CommandFailed, match="cannot be started"):
        Client([str(tmp_path / "nothing")], tmp_path)


def test_the_fixed_cost_is_that_of_a_real_tool_list_and_names_absent_peers(tmp_path: Path) -> None:
    report = fixed.run(Options("", str(tmp_path)))
    ours = report.rows[0]
    assert ours["server"] == "laconic"
    assert int(ours["tokens"] or 0) == int(ours["list"] or 0) + int(ours["instructions"] or 0)
    assert [note.split(":")[0] for note in report.notes] == [each.package for each in PEERS if each.serves]
    assert all(bar.holds for bar in report.bars)


def test_the_version_is_read_from_the_environment(tmp_path: Path) -> None:
    chosen = peer("code-index-mcp")
    assert installed(tmp_path, chosen) == ""
    info = tmp_path / "peers" / "code-index-mcp" / "lib" / "python3.11" / "site-packages"
    (info / "code_index_mcp-2.17.1.dist-info").mkdir(parents=True)
    assert installed(tmp_path, chosen) == "2.17.1"


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(UnknownName, match="code-index-mcp"):
        peer("code-index")


def test_what_cannot_be_installed_says_why(tmp_path: Path) -> None:
    """A file stands where the environment should be made."""
    (tmp_path / "peers").write_text("")
    said = install(tmp_path, [peer("litellm")])["litellm"]
    assert "venv" in said
    assert "failed" in said


def test_the_report_says_where_somebody_does_better() -> None:
    ours: dict[str, Cell] = {"measure": "ten", "by": "laconic", "tokens": 50, "right": 9, "build s": 3.0}
    other: dict[str, Cell] = {"measure": "ten", "by": "other", "tokens": 70, "right": 10, "build s": 1.0}
    worse: dict[str, Cell] = {"measure": "ten", "by": "worse", "tokens": 70, "right": 8, "build s": 9.0}
    assert list(verdicts([ours, other, worse])) == [
        "ten: other does better than laconic in build s, right",
        "ten: worse does better than laconic in nothing",
    ]


def test_outputs_are_measured_by_facts_and_tokens_and_a_cut_loses_the_middle(tmp_path: Path) -> None:
    middle = "E   AssertionError: total 5 != 7"
    text = "\n".join([*(f"ok {n} passed" for n in range(2000)), middle, *(f"ok {n} passed" for n in range(2000))])
    fact = {"kind": "error", "atoms": ["AssertionError: total 5 != 7"]}
    (tmp_path / "outputs").mkdir()
    row = {"id": "1", "category": "pytest", "text": text, "facts": [fact]}
    (tmp_path / "outputs" / "dev.jsonl").write_text(json.dumps(row) + "\n")
    rows = {str(row["by"]): row for row in compressed(Options(str(tmp_path), str(tmp_path)), PEERS, [])}
    assert rows["laconic"]["facts kept"] == 1.0
    assert rows["cut at 30,000 characters"]["facts kept"] == 0.0
    assert float(rows["laconic"]["tokens kept"] or 0) < 0.2


def test_a_request_is_passed_on_by_our_gateway_and_sent_directly(tmp_path: Path) -> None:
    rows = passed_on(Options("", str(tmp_path)), PEERS, [])
    assert [row["by"] for row in rows] == ["direct", "laconic"]
    assert all(float(row["first byte ms"] or 0) > 0 for row in rows)
    assert float(rows[1]["memory MB"] or 0) > 0
