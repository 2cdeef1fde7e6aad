"""Sessions of one repository or developer are in one part."""

from __future__ import annotations

from laconic.sessions.transcripts import Transcript
from laconic_benchmarks.replay_parts import PARTS, part_of


def _session(name: str, text: str = "") -> Transcript:
    return Transcript(name, [{"role": "user", "content": [{"type": "text", "text": text}]}])


def test_sessions_about_one_repository_are_together() -> None:
    for repository in ("django__django", "astropy__astropy", "some__thing"):
        parts = {part_of(_session(f"mini-swe-agent/{repository}-{number}")) for number in range(9)}
        assert len(parts) == 1 and parts <= set(PARTS)


def test_sessions_of_claude_code_go_by_the_developer_whose_home_they_name() -> None:
    parts = [
        part_of(_session("claude-code/1", f"/Users/{who}/src/a.go /home/ci/b")) for who in ("dev1", "dev3", "me")
    ]
    assert parts == ["tune", "choose", "report"]
    assert part_of(_session("claude-code/2")) == "report"
