"""A task in words is answered with the symbols that it is about."""

from __future__ import annotations

from pathlib import Path

from laconic.index.search import RankedSymbol, rank_symbols
from laconic.index.search.terms import extract_terms, find_identifiers, has_same_stem
from laconic.index.workspace_index import Index


def ranked(index: Index, task: str) -> list[RankedSymbol]:
    return rank_symbols(index.store, task, 10, lambda path: (index.root / path).read_text().split("\n"))


def names(index: Index, task: str) -> list[str]:
    return [row.symbol.name for row in ranked(index, task) if row.symbol]


def test_functions_about_the_task_come_first(index: Index) -> None:
    assert names(index, "Charging the customer twice when stock is reserved")[0] == "place_order"


def test_a_symbol_that_the_text_names_as_code_comes_first(index: Index) -> None:
    assert names(index, "Stock of orders\n\nThe culprit may be `render_receipt`.")[:2].count("render_receipt") == 1


def test_tests_come_after_the_code_that_they_test(index: Index) -> None:
    rows = ranked(index, "place order charge")
    classes = [row.file_class for row in rows]
    assert classes.index("test") > classes.index("source")


def test_words_match_by_their_stem(index: Index) -> None:
    assert "cancel" in names(index, "cancelling fails")


def test_a_word_that_only_a_path_has_finds_what_is_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "code" / "billing" / "sums.py"
    file.parent.mkdir(parents=True)
    file.write_text("def total(cart):\n    return cart\n")
    index = Index.open(tmp_path / "code", tmp_path / "cache")
    index.build()
    assert names(index, "Billing is broken") == ["total"]
    index.close()


def test_a_text_without_words_ranks_nothing(index: Index) -> None:
    assert ranked(index, "??? \n") == []


def test_words_of_the_title_count_more_and_prose_does_not_count() -> None:
    found = {term.word: term.weight for term in extract_terms("Fix the rounding\n\nIt is wrong in createInvoice")}
    assert found["rounding"] > found["invoice"]
    assert "the" not in found


def test_what_a_template_of_issues_says_does_not_count() -> None:
    text = (
        "Refunds fail\n\n### Prerequisites\n- [x] I have read the guidelines\n<!-- describe the outcome -->\n"
        "### Description\nThe `ledger` loses a refund, the refund is gone.\n\n```\nmy_script(refund)\n```\n"
    )
    found = {term.word: term.weight for term in extract_terms(text)}
    assert not found.keys() & {"guidelines", "read", "describe", "outcome"}
    assert found["refunds"] > found["ledger"] > found["loses"] > found["prerequisites"] > found["script"]
    assert found["refund"] > found["loses"]  # said again and again


def test_the_text_of_an_issue_finds_its_function_below_a_template(index: Index) -> None:
    template = "".join(f"- [x] I cancelled an order and rendered the receipt {n} times\n" for n in range(30))
    found = names(
        index, f"Payment declined by the provider\n\n### Checks\n{template}\n### What happens\nNo refund.\n"
    )
    assert found[0] == "charge"


def test_members_of_what_the_title_names_come_first(index: Index) -> None:
    rows = ranked(index, "`OrderBook` returns the number\n\nOf the item it gives.")
    best = [row.symbol.qualified for row in rows if row.symbol][:2]
    assert all(name.startswith("OrderBook.") for name in best)


def test_identifiers_are_told_from_prose() -> None:
    assert find_identifiers("Call `charge` or place_order, then createInvoice and done()") == [
        "charge",
        "place_order",
        "createInvoice",
        "done",
    ]


def test_names_in_blocks_of_code_are_the_readers_own() -> None:
    assert find_identifiers("It fails:\n```\nmy_script()\n```\nin `charge`") == ["charge"]


def test_akin_words_share_their_stem() -> None:
    assert has_same_stem("compile", "compiled")
    assert has_same_stem("route", "routing")
    assert not has_same_stem("order", "other")
    assert not has_same_stem("cat", "category")
