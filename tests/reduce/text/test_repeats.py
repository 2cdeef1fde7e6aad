"""Lines that repeat are counted, and nothing that is not there is called lossless."""

from __future__ import annotations

import pytest

from laconic.reduce.text import reduce_text
from laconic.tokens.count import counter


@pytest.mark.feature("U8")
def test_four_hundred_repeats_keep_their_count() -> None:
    """The example of the documents: a line four hundred times, and another."""
    text = "\n".join(["waiting for the server"] * 400 + ["ready on port 80"])
    said = reduce_text(text, cost=counter()).text
    assert "waiting for the server  [×400]" in said
    assert "ready on port 80" in said
    assert "nothing left out" not in said


@pytest.mark.feature("U8")
@pytest.mark.parametrize("line", ["a", "404", "%"])
def test_a_short_line_that_repeats_keeps_its_count(line: str) -> None:
    shortened = reduce_text(f"{line}\n" * 400, cost=counter())
    assert f"{line}  [×400]" in shortened.text
