"""What was learned about models, in a file that may be damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.model_memory import Capabilities


@pytest.mark.parametrize("damage", [b"{", b"\xff\x00", b"[1, 2]", b'{"m": "native"}'])
def test_a_damaged_file_is_moved_aside_and_learned_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(damage)
    known = Capabilities(path)
    assert known.recall("m") is None
    known.keep("m", "native", 9.0)
    assert Capabilities(path).recall("m") == ("native", 9.0)
    (kept,) = list_ruined(path)
    assert kept.read_bytes() == damage


def test_what_another_process_learned_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    here, there = Capabilities(path), Capabilities(path)
    here.keep("m", "native", 9.0)
    assert there.recall("m") == ("native", 9.0)
    here.keep("m", "prompted", 8.0)
    assert there.recall("m") == ("prompted", 8.0)


def test_a_file_that_is_the_same_is_not_decoded_again(tmp_path: Path) -> None:
    """It is asked several times for each request."""
    known = Capabilities(tmp_path / "models.json")
    known.keep("m", "native", 9.0)
    assert known.recall("m") is known.recall("m")
