"""Hits as text and as JSON, in forms that a person reads here."""

from __future__ import annotations

import json

import pytest

from laconic.records import Hit, Omission, Span
from laconic.render.compact_json import envelope, hit_record
from laconic.render.footer import footer
from laconic.render.hits import by_file, hit_line

HITS = [
    Hit("shop/cart.py", 12, "def", "add", "def add(self, item: Item, count: int = 1) -> None", span=Span(12, 20)),
    Hit("shop/views.py", 40, "ref", "add", "cart.add(item)", "CartView.post", Span(31, 55)),
    Hit("shop/views.py", 44, "ref", "add", "cart.add(gift, 1)", "CartView.post", Span(31, 55)),
    Hit("shop/views.py", 90, "ref", "add", "basket.add(x)", "legacy", Span(88, 93), sure=False),
    Hit("README.md", 7, "text", preview="call `cart.add` to fill the cart"),
]


@pytest.mark.feature("C1", "C2")
def test_text_names_a_path_once_and_the_symbol_around_a_hit_once() -> None:
    lines = []
    for path, hits in by_file(HITS).items():
        lines.append(f"{path}\n")
        around = ""
        for hit in hits:
            lines.append(hit_line(hit, around))
            around = f"{hit.symbol}:{hit.span}"
    assert "".join(lines) == (
        "shop/cart.py\n"
        "12-20 def add(self, item: Item, count: int = 1) -> None\n"
        "shop/views.py\n"
        "40 ref cart.add(item) @ CartView.post:31-55\n"
        "44 ref cart.add(gift, 1)\n"
        "90? ref basket.add(x) @ legacy:88-93\n"
        "README.md\n"
        "7 call `cart.add` to fill the cart\n"
    )


@pytest.mark.feature("C1")
def test_json_is_flat_without_null_or_dead_fields() -> None:
    records = [hit_record(hit) for hit in HITS]
    assert records[0] == {
        "path": "shop/cart.py",
        "line": 12,
        "kind": "def",
        "name": "add",
        "preview": "def add(self, item: Item, count: int = 1) -> None",
        "span": [12, 20],
    }
    assert records[3]["possible"] is True
    assert "null" not in json.dumps(records)


@pytest.mark.feature("C5")
def test_the_envelope_speaks_only_when_something_was_left_out() -> None:
    whole = envelope("search_hits", {"hits": []}, None, 10, 500)
    assert json.loads(whole) == {"hits": []}
    part = json.loads(envelope("search_hits", {"hits": []}, Omission(3, 9, more="recall r1"), 480, 500))
    assert part == {
        "hits": [],
        "kind": "search_hits",
        "budget_used": 480,
        "budget_limit": 500,
        "shown": 3,
        "total": 9,
        "more": "recall r1",
    }


def test_the_footer_says_how_many_of_how_many_and_the_next_call() -> None:
    assert footer(None) == footer(Omission(4, 4)) == ""
    assert footer(Omission(4, 19, more='recall("r7")')) == '[4 of 19 hits; more: recall("r7")]\n'
