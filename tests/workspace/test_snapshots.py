"""What was read: versions by tag, and the lines that were shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.edits.source import split
from laconic.records import Span
from laconic.workspace.snapshots import Snapshots


@pytest.mark.feature("P5")
def test_versions_come_back_with_all_lines_that_were_shown(tmp_path: Path) -> None:
    source = split(b"a\nb\xff\nc\nd")
    first, second = Snapshots(tmp_path), Snapshots(tmp_path)
    first.remember("x.py", source, [Span(1, 1)])
    second.remember("x.py", source, [Span(2, 2), Span(4, 4)])
    seen = first.versions("x.py")[source.tag]
    assert seen.lines == source.lines
    assert seen.shown == (Span(1, 2), Span(4, 4))
    assert first.paths(source.tag) == ["x.py"]
    assert first.versions("y.py") == {}
    first.close()
    second.close()


def test_old_versions_give_way_to_new_ones(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    sources = [split(f"line {i}\n".encode()) for i in range(12)]
    for source in sources:
        snapshots.remember("x.py", source, [Span(1, 1)])
    kept = snapshots.versions("x.py")
    assert set(kept) == {source.tag for source in sources[-8:]}
    snapshots.close()


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "snapshots.sqlite").write_bytes(b"no database at all" * 300)
    snapshots = Snapshots(tmp_path)
    source = split(b"a\n")
    snapshots.remember("x.py", source, [Span(1, 1)])
    assert snapshots.paths(source.tag) == ["x.py"]
    snapshots.close()
