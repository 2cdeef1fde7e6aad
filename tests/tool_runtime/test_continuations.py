"""What an answer prints to go on works in a shell as it is printed, and brings what was not shown."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.samples import shop

from laconic_benchmarks.continuations import follow_continuations, judge


@pytest.mark.feature("C7", "U8")
@pytest.mark.parametrize("seed", range(2))
def test_printed_continuations_run_in_a_shell_and_advance(tmp_path: Path, seed: int) -> None:
    root = shop(tmp_path)
    for number in range(30):
        names = "".join(f"def handle_{number}_{at}(order):\n    return order + {at}\n\n" for at in range(12))
        (root / f"handlers_{number}.py").write_text(names)
    found = follow_continuations(root, tmp_path / "cache", Random(seed), 10)
    assert len(found) == 10
    assert not [problem for problem in found if problem]


def test_a_page_that_repeats_or_leaves_a_gap_is_found_out() -> None:
    first = "a.py\n1 one\n[1 of 3 hits; more: laconic search x --offset=1]\n"
    assert "the same page" in judge(first, first, "laconic search x --offset=1")
    assert "is followed by 3-3" in judge(first, "a.py\n3 three\n[3-3 of 3 hits]\n", "laconic search x --offset=1")
    assert judge(first, "a.py\n2 two\n3 three\n", "laconic search x --offset=1") == ""
