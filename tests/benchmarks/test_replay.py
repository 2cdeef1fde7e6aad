"""The replay of recorded sessions: ours always, the policies of others where there is time for them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from laconic_benchmarks.replay import run
from laconic_benchmarks.report import Options


def _recorded(folder: Path) -> None:
    messages: list[dict[str, str]] = [{"role": "user", "content": "Fix the test."}]
    for turn in range(31):
        messages.append({"role": "assistant", "content": f"Step {turn}."})
        messages.append({"role": "user", "content": "Go on."})
    folder.mkdir()
    row = {"id": "mini-swe-agent/some__thing-1", "messages": messages}
    (folder / "recorded.jsonl").write_bytes(msgspec.json.encode(row) + b"\n")


def test_a_quick_replay_leaves_out_the_policies_of_others(tmp_path: Path) -> None:
    _recorded(tmp_path / "trajectories")
    whole = run(Options(data=str(tmp_path), cache=str(tmp_path / "cache")))
    quick = run(Options(data=str(tmp_path), cache=str(tmp_path / "cache"), quick=True))
    ours = [row for row in whole.rows if "," not in str(row["agent"])]
    assert len(ours) == 2 < len(whole.rows)
    assert list(quick.rows) == ours
