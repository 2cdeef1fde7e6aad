"""Who calls whom, how one symbol leads to another, and which tests reach it."""

from __future__ import annotations

from collections.abc import Callable

from laconic.index.resolve import (
    Code,
    callees,
    callers,
    covering_tests,
    covering_tests_of_file,
    find_symbol,
    implementations,
    overridden,
    paths,
    spread,
)

Repository = Callable[[dict[str, str]], Code]

SHOP = {
    "shop/price.py": "def total(items):\n    return round_up(items)\n\n\ndef round_up(value):\n    return value\n",
    "shop/cart.py": (
        "from shop.price import total\n\n\nclass Cart:\n    def pay(self):\n        return total([])\n\n"
        "    def show(self):\n        return self.pay()\n\n\n"
        "class FreeCart(Cart):\n    def pay(self):\n        return 0\n"
    ),
    "shop/__init__.py": "",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_show():\n    assert Cart().show() == 0\n",
}


def test_callers_are_the_functions_around_the_uses(repository: Repository) -> None:
    code = repository(SHOP)
    assert [(c.symbol.qualified, c.lines, c.sure) for c in callers(code, find_symbol(code, "total")[0])] == [
        ("Cart.pay", (6,), True)
    ]


def test_callees_leave_out_what_is_not_ours(repository: Repository) -> None:
    code = repository(SHOP)
    assert [c.symbol.qualified for c in callees(code, find_symbol(code, "total")[0])] == ["round_up"]
    assert [c.symbol.qualified for c in callees(code, find_symbol(code, "Cart")[0])] == ["total", "Cart.pay"]


def test_paths_lead_from_one_symbol_to_another(repository: Repository) -> None:
    code = repository(SHOP)
    start, end = find_symbol(code, "Cart.show")[0], find_symbol(code, "round_up")[0]
    assert [[each.qualified for each in way] for way in paths(code, start, end)] == [
        ["Cart.show", "Cart.pay", "total", "round_up"]
    ]
    assert paths(code, end, start) == []


def test_implementations_of_a_type_and_of_a_member(repository: Repository) -> None:
    code = repository(SHOP)
    assert [e.qualified for e in implementations(code, find_symbol(code, "Cart")[0])] == ["FreeCart"]
    assert [e.qualified for e in implementations(code, find_symbol(code, "Cart.pay")[0])] == ["FreeCart.pay"]
    assert [e.qualified for e in overridden(code, find_symbol(code, "FreeCart.pay")[0])] == ["Cart.pay"]


def test_a_change_spreads_through_callers(repository: Repository) -> None:
    code = repository(SHOP)
    found = spread(code, find_symbol(code, "round_up")[0], depth=3)
    assert [(distance, each.qualified) for distance, each in found] == [
        (1, "total"),
        (2, "Cart.pay"),
        (3, "Cart.show"),
    ]


def test_tests_reach_a_symbol_through_others(repository: Repository) -> None:
    code = repository(SHOP)
    assert [(d, e.qualified) for d, e in covering_tests(code, find_symbol(code, "Cart.pay")[0])] == [(2, "test_show")]
    assert [e.qualified for _, e in covering_tests_of_file(code, "shop/cart.py")] == ["test_show"]
    assert covering_tests_of_file(code, "missing.py") == []


def test_answers_follow_a_changed_file(repository: Repository) -> None:
    code = repository(SHOP)
    assert callers(code, find_symbol(code, "round_up")[0])
    repository({"shop/price.py": "def total(items):\n    return 1\n\n\ndef round_up(value):\n    return value\n"})
    assert callers(code, find_symbol(code, "round_up")[0]) == []
