"""How many tokens an answer may have, and that it never has more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples import shop

from laconic.config import Settings, load
from laconic.errors import UsageError
from laconic.tokens.count import counter
from laconic.tool_runtime.budget import BATCH, CEILING, limit
from laconic.tool_runtime.compose import compose
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tool_runtime.tool import Piece, ToolAnswer
from laconic.tools import tools

COUNT = counter("o200k_base")
TEXTS = st.lists(st.text(max_size=60).map(lambda text: text.replace("\n", " ") + "\n"), min_size=1, max_size=3)
PIECES = st.lists(st.builds(Piece, TEXTS.map(lambda t: tuple(sorted(t, key=len))), st.sampled_from(["a.py", "b.py"])))


@pytest.mark.feature("U4", "J6")
@given(PIECES, st.text(max_size=40), st.integers(20, 600), st.booleans())
def test_no_answer_is_ever_over_its_limit(pieces: list[Piece], head: str, allowed: int, json: bool) -> None:
    """Whatever the pieces are and however they merge when they stand together."""
    composed = compose(ToolAnswer(pieces, head=head), allowed, COUNT, json=json, more=lambda start: f"more({start})")
    assert composed.tokens == COUNT(composed.text) <= allowed


@pytest.mark.feature("U4")
def test_each_layer_says_that_it_had_to_act() -> None:
    """Pieces are fitted; what still does not fit is cut at a line, and marked."""

    def made(pieces: list[Piece], allowed: int, head: str = "") -> str:
        return compose(ToolAnswer(pieces, head=head), allowed, COUNT, more=lambda start: "more()").cut

    lines = [Piece((f"line {number} of some text\n",)) for number in range(40)]
    assert made(lines, 2_000) == ""
    assert made(lines, 100) == "fit"
    assert made([], 30, head="a head that is far too long " * 20) == "net"


@pytest.mark.feature("J6")
def test_no_wish_and_no_host_goes_over_the_ceiling() -> None:
    assert limit("1000000", 500) == limit("full", 500) == CEILING == 10_000
    assert limit("", 500, host=200_000) == 500
    assert limit("4000", 500, host=900) == 900


@pytest.mark.feature("J6")
def test_calls_that_are_under_way_together_share_one_budget() -> None:
    session = Session()
    for _ in range(3):
        session.begin()
    session.end(10_000)
    session.end(10_000)
    assert session.batch_left == BATCH - 20_000 == 5_000
    assert limit("full", 500, batch=session.batch_left) == 5_000
    session.end(5_000)
    assert session.batch_left == BATCH


@pytest.mark.feature("U7")
def test_defaults_shrink_as_a_session_fills_and_can_be_set(tmp_path: Path, settings: Settings) -> None:
    session = Session()
    assert session.pressure == 1.0
    session.begin()
    session.end(100_000)
    assert limit("", 2_000, pressure=session.pressure) == 1_000
    assert limit("1500", 2_000, pressure=session.pressure) == 1_500, "what was asked for in so many words stays"
    own = load(flags={**dict(settings), "budget": 60}, environ={}, file=tmp_path / "none")
    runtime = ToolRuntime(shop(tmp_path), own, tools())
    assert runtime.call("map", {}).tokens <= 60
    runtime.close()


@pytest.mark.parametrize("wish", ["soon", "-5", "0", "1e"])
def test_a_budget_that_is_none_is_answered_with_what_to_write(wish: str) -> None:
    with pytest.raises(UsageError, match=r"compact, standard or full|above 0"):
        limit(wish, 500)


@pytest.mark.feature("J7")
def test_every_tool_has_a_budget_and_the_documents_show_it() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "tools.md").read_text("utf-8")
    for tool in tools().values():
        assert 0 < tool.budget <= CEILING
        assert f"| `{tool.name}` | {tool.budget:,} |" in page
