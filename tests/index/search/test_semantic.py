"""Questions in words are put in order by meaning, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from laconic.index.search import rank_symbols, search, semantic
from laconic.index.search.query import parse_query
from laconic.index.search.ranking import RankedSymbol
from laconic.index.workspace_index import Index


def about(word: str) -> semantic.Encoder:
    """An encoder that knows one subject."""

    def encode(text: str) -> Sequence[float]:
        return (1.0, 0.0) if word in text else (0.0, 1.0)

    return encode


def rows(*paths: str) -> list[tuple[float, RankedSymbol]]:
    return [(1.0 - at / 100, RankedSymbol(0.0, path, "source", None, at)) for at, path in enumerate(paths)]


def test_the_row_nearest_to_the_question_comes_first_and_scores_stay_in_order() -> None:
    given = rows("shop/orders.py", "shop/stock.py", "shop/money.py")
    found = semantic.reorder(about("money"), "where is money kept", given)
    assert [row.path for _, row in found] == ["shop/money.py", "shop/orders.py", "shop/stock.py"]
    assert [score for score, _ in found] == [score for score, _ in given]


def test_rows_that_are_equally_near_keep_their_order() -> None:
    given = rows("a.py", "b.py", "c.py")
    assert semantic.reorder(about("nothing"), "where is money kept", given) == given


def test_a_much_better_match_of_words_stays_first() -> None:
    (_, first), (_, second) = rows("shop/orders.py", "shop/money.py")
    middle = (0.5, RankedSymbol(0.0, "shop/half.py", "source", None, 9))
    given = [(1.0, first), middle, (-0.1, second)]
    assert semantic.reorder(about("money"), "where is money kept", given)[0][1] is first


def test_rows_after_the_candidates_are_left_alone() -> None:
    given = rows(*(f"f{at}.py" for at in range(semantic.CANDIDATES)), "money.py")
    assert semantic.reorder(about("money"), "where is money kept", given)[-1] == given[-1]


@pytest.mark.parametrize("text", ["place_order", "OrderBook.cancel", "class Order", "who calls place_order in shop"])
def test_names_are_not_questions(text: str) -> None:
    assert not semantic.is_question(parse_query(text))


def test_words_are_a_question() -> None:
    assert semantic.is_question(parse_query("where do we give money back"))


def test_a_candidate_is_described_by_its_place_name_and_documentation(index: Index) -> None:
    row = rank_symbols(index.store, "reserve stock for an order", 1, lambda path: ())[0]
    text = semantic.describe(row)
    assert "shop orders" in text
    assert "place order" in text
    assert "Reserve stock" in text


@pytest.mark.flow
def test_the_extra_knows_words_that_mean_the_same(index: Index) -> None:
    """With the real model, which `make flows` installs."""
    encode = semantic.load_encoder()
    assert encode is not None
    given = rows("shop/bicycle.py", "shop/payment.py")
    found = semantic.reorder(encode, "where do customers give us money", given)
    assert found[0][1].path == "shop/payment.py"
    words = "where is the customer charged for an order"
    either = [{hit.path for hit in search(index, words, semantic=wish).hits} for wish in (True, False)]
    assert either[0] == either[1]
