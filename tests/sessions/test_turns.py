"""The record of turns: what rows add up to, whatever happens in between."""

from __future__ import annotations

import stat
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.records import AddedBlock, AddedContent
from laconic.sessions.spending import Spending
from laconic.sessions.turn_record import AnswerCost, ShortenedBlock, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns

_KINDS = ("read", "run", "calls")


@st.composite
def _sessions(draw: st.DrawFn) -> list[tuple[list[tuple[str, int, int]], list[tuple[int, int]]]]:
    """Per turn: blocks that enter (kind, tokens as they came, as sent), and earlier blocks that lose tokens."""
    turns = []
    sizes: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        entered = []
        for kind in draw(st.lists(st.sampled_from(_KINDS), max_size=3)):
            whole = draw(st.integers(1, 500))
            sent = draw(st.integers(1, whole))
            entered.append((kind, whole, sent))
        cuts = []
        for at in sorted(draw(st.sets(st.integers(0, max(0, len(sizes) - 1)), max_size=2))) if sizes else ():
            lost = draw(st.integers(0, sizes[at]))
            sizes[at] -= lost
            cuts.append((at, lost))
        sizes += [sent for _, _, sent in entered]
        turns.append((entered, cuts))
    return turns


@settings(max_examples=40)
@given(_sessions(), st.booleans())
def test_a_part_costs_its_size_in_every_turn(
    session: list[tuple[list[tuple[str, int, int]], list[tuple[int, int]]]], restarts: bool
) -> None:
    """Sums over turns equal a naive count, also when the history is read from its start again."""
    blocks: list[list[object]] = []  # kind, whole, sent now
    naive: dict[str, list[int]] = {}
    with TemporaryDirectory() as folder:
        turns = Turns(Path(folder) / FILE)
        for number, (entered, cuts) in enumerate(session):
            first = len(blocks)
            blocks += [[kind, whole, sent] for kind, whole, sent in entered]
            anew = number == 0 or restarts
            shown = range(0 if anew else first, len(blocks))
            added_content = AddedContent(
                number,
                10,
                tuple(
                    AddedBlock(f"k{at}", str(blocks[at][0]), "", "", int(str(blocks[at][1])), int(str(blocks[at][2])))
                    for at in shown
                ),
                anew,
            )
            for at, lost in cuts:
                blocks[at][2] = int(str(blocks[at][2])) - lost
            made = tuple(ShortenedBlock(f"k{at}", lost) for at, lost in cuts)
            turns.add(TurnRecord(TurnIdentity("s"), float(number), added_content=added_content, cuts=made))
            for kind, whole, sent in blocks:
                row = naive.setdefault(str(kind), [0, 0])
                row[0] += int(str(sent))
                row[1] += int(str(whole))
            fixed = naive.setdefault("instructions", [0, 0])
            fixed[0] += 10
            fixed[1] += 10
        turns.close()
        reading = Spending(Path(folder) / FILE)
        found = {row.name: [row.sent, row.whole] for row in reading.parts("kind")}
        assert reading.parts("kind") == reading.parts_of("s", "kind")
        reading.close()
    assert found == naive


def test_sessions_add_up_and_the_oldest_go(tmp_path: Path) -> None:
    """A session's row is the sum of its turns; beyond the limit whole sessions are forgotten, their hours are not."""
    turns = Turns(tmp_path / FILE, kept=2)
    for number, name in enumerate(["a", "a", "b", "c"]):
        cost = AnswerCost(10, 20, 30, 4, 90.0, 0.5, 1.5, standing=b"a1" if name == "a" else b"")
        turns.add(
            TurnRecord(
                TurnIdentity(name, model="m"),
                3600.0 * number,
                200,
                cost=cost,
                added_content=AddedContent(number, 0, title="hello"),
            )
        )
    assert (turns.last_turn("a")[0], turns.last_turn("b")) == (b"a1", (b"", b""))
    reading = Spending(tmp_path / FILE)
    rows = {row.session: row for row in reading.sessions()}
    assert (rows["a"].turns, rows["a"].prompt, rows["a"].whole, rows["a"].dollars) == (2, 120, 180.0, 1.0)
    assert rows["a"].title == "hello"
    for number in range(120):
        turns.add(TurnRecord(TurnIdentity("b"), 4 * 3600.0 + number))
    assert {row.session for row in reading.sessions()} == {"b", "c"}
    assert [hour.prompt for hour in reading.hours()][:4] == [60, 60, 60, 60]
    reading.close()
    turns.close()


def test_the_file_is_for_its_owner(tmp_path: Path) -> None:
    """Nobody else on the machine reads how a conversation began."""
    turns = Turns(tmp_path / "cache" / FILE)
    turns.add(TurnRecord(TurnIdentity("s"), 1.0))
    for path in (tmp_path / "cache").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    turns.close()
