"""Snapshots of pages within a budget."""

from __future__ import annotations

from laconic.reduce.page_snapshot import is_snapshot, shorten_snapshot

CELLS = [f'  - cell "item-{i}" [ref=e{i}]' for i in range(400)]
PAGE = "\n".join(["- heading", *CELLS, '- button "Pay" [ref=e900]'])


def test_what_can_be_acted_on_stays_and_the_page_from_its_top() -> None:
    assert is_snapshot(PAGE)
    shown = shorten_snapshot(PAGE, len, 2_000, "whole: recall x")
    assert '- button "Pay" [ref=e900]' in shown
    assert all(f'"item-{i}"' in shown for i in range(30))
    assert len(shown) < 2_100
    assert shown.endswith("402 lines; whole: recall x]")


def test_other_texts_are_no_snapshots() -> None:
    assert not is_snapshot("- one\n" * 50)
    assert not is_snapshot("text with uid=1\n" * 50)
