"""Who calls whom, how one symbol leads to another, and which tests reach it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laconic.index.resolve import (
    Code,
    callees,
    callers,
    find_symbol,
    implementations,
    overridden,
    paths,
    references,
    related_tests,
    related_tests_of_file,
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
    assert [[each.symbol.qualified for each in way] for way in paths(code, start, end)] == [
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
    assert [(d, e.qualified) for d, e in related_tests(code, find_symbol(code, "Cart.pay")[0])] == [(2, "test_show")]
    assert [e.qualified for _, e in related_tests_of_file(code, "shop/cart.py")] == ["test_show"]
    assert related_tests_of_file(code, "missing.py") == []


def test_answers_follow_a_changed_file(repository: Repository) -> None:
    code = repository(SHOP)
    assert callers(code, find_symbol(code, "round_up")[0])
    repository({"shop/price.py": "def total(items):\n    return 1\n\n\ndef round_up(value):\n    return value\n"})
    assert callers(code, find_symbol(code, "round_up")[0]) == []


def test_a_path_through_a_constructor_runs_no_other_method(repository: Repository) -> None:
    """`safe` makes a P and never calls what its other methods call."""
    code = repository(
        {
            "a.py": "def boom():\n    pass\n\n\ndef soft():\n    pass\n\n\n"
            "class P:\n    def __init__(self):\n        soft()\n\n"
            "    def explode(self):\n        boom()\n\n\ndef safe():\n    P()\n"
        }
    )
    safe, boom, soft = (find_symbol(code, name)[0] for name in ("safe", "boom", "soft"))
    assert paths(code, safe, boom) == []
    assert [[step.symbol.name for step in way] for way in paths(code, safe, soft)] == [["safe", "P", "soft"]]
    assert [call.symbol.name for call in callees(code, find_symbol(code, "P")[0])] == ["soft", "boom"]


def test_a_method_of_the_library_is_not_one_of_ours(repository: Repository) -> None:
    code = repository(
        {
            "Text.java": "class Text {\n  char charAt(int at) { return 'a'; }\n}\n",
            "Use.java": "class Use {\n  void run(String name, Text text) {\n"
            "    name.charAt(1);\n    text.charAt(2);\n  }\n}\n",
        }
    )
    run, own = find_symbol(code, "Use.run")[0], find_symbol(code, "Text.charAt")[0]
    assert [(call.symbol.id, call.lines, call.sure) for call in callees(code, run)] == [(own.id, (4,), True)]


def test_what_overrides_is_called_through_what_it_overrides(repository: Repository) -> None:
    """A use of the base names the base alone; as a caller of the override it is possible."""
    code = repository(
        {
            "A.java": "abstract class A {\n  abstract void go();\n  static void run(A a) { a.go(); }\n}\n",
            "B.java": "class B extends A {\n  void go() {}\n}\n",
        }
    )
    override = find_symbol(code, "B.go")[0]
    assert references(code, override) == []
    assert [(call.symbol.name, call.sure) for call in callers(code, override)] == [("run", False)]


def test_bodies_of_enum_constants_implement_their_enum(repository: Repository) -> None:
    code = repository(
        {
            "Op.java": "enum Op {\n  ADD {\n    int apply(int a) { return a; }\n  };\n  abstract int apply(int a);\n}\n",
        }
    )
    declared = next(each for each in find_symbol(code, "Op.apply") if each.line == 5)
    assert [each.line for each in implementations(code, declared)] == [3]


@pytest.mark.feature("J10")
def test_a_call_on_a_constant_uses_the_abstract_method_of_its_enum(repository: Repository) -> None:
    code = repository(
        {
            "Op.java": "enum Op {\n  PLUS {\n    int apply(int a) { return a; }\n  },\n"
            "  MINUS { int apply(int a) { return -a; } };\n  abstract int apply(int a);\n}\n",
            "Use.java": "class Use {\n  int both() { return Op.PLUS.apply(1); }\n}\n",
        }
    )
    by_line = {each.line: each for each in find_symbol(code, "Op.apply")} | {
        each.line: each for each in find_symbol(code, "Op.PLUS.apply")
    }
    assert [(use.path, use.line, use.sure) for use in references(code, by_line[6])] == [("Use.java", 2, True)]
    assert [(use.path, use.line, use.sure) for use in references(code, by_line[3])] == [("Use.java", 2, True)]


def test_written_out_objects_and_functions_implement_the_interface_that_they_declare(repository: Repository) -> None:
    code = repository(
        {
            "tools.ts": "export interface Tool {\n  run(): void\n}\n"
            "export const hammer: Tool = {\n  run: () => {},\n}\n"
            "export const same = hammer\n"
            "export function use(tool: Tool) {}\n"
        }
    )
    assert [e.qualified for e in implementations(code, find_symbol(code, "Tool")[0])] == ["hammer"]


def test_an_impl_block_implements_its_trait_also_for_a_type_of_others(repository: Repository) -> None:
    code = repository(
        {
            "src/lib.rs": "pub trait Show {\n    fn show(&self);\n}\n\npub struct Own;\n\n"
            "impl Show for Own {\n    fn show(&self) {}\n}\n\nimpl Own {\n    fn hide(&self) {}\n}\n\n"
            "impl Show for Vec<u8> {\n    fn show(&self) {}\n}\n"
        }
    )
    assert [each.line for each in implementations(code, find_symbol(code, "Show")[0])] == [7, 15]
    assert [each.line for each in implementations(code, find_symbol(code, "Show.show")[0])] == [8, 16]


def test_a_path_over_sure_steps_comes_before_a_shorter_one_that_is_only_possible(repository: Repository) -> None:
    code = repository(
        {
            "a.py": "class Box:\n    def fill(self):\n        pass\n\n\n"
            "class Jar:\n    def fill(self):\n        pass\n\n\n"
            "def pack():\n    Box().fill()\n\n\n"
            "def start(thing):\n    thing.fill()\n    pack()\n\n\n"
            "def guess(thing):\n    thing.fill()\n"
        }
    )
    start, guess, fill = (find_symbol(code, name)[0] for name in ("start", "guess", "Box.fill"))
    assert [[(e.symbol.name, e.sure) for e in way] for way in paths(code, start, fill)] == [
        [("start", True), ("pack", True), ("fill", True)]
    ]
    assert [[(e.symbol.name, e.sure) for e in way] for way in paths(code, guess, fill)] == [
        [("guess", True), ("fill", False)]
    ]


def test_a_call_that_two_programs_can_answer_is_only_possible(repository: Repository) -> None:
    code = repository(
        {
            "one.c": "int report(void) { return 1; }\n",
            "two.c": "int report(void) { return 2; }\n",
            "use.c": "int report(void);\nint go(void) { return report(); }\n",
        }
    )
    found = callees(code, find_symbol(code, "go")[0])
    assert {(code.sources[e.symbol.file].path, e.sure) for e in found} >= {("one.c", False), ("two.c", False)}


def test_when_the_time_is_up_nothing_further_is_looked_at(repository: Repository) -> None:
    code = repository(SHOP)
    symbol = find_symbol(code, "total")[0]
    with code.limit_time(-1.0):
        assert callers(code, symbol) == []
        assert callees(code, symbol) == []
        assert code.was_cut
    assert len(callers(code, symbol)) == 1
    with code.limit_time(60.0):
        assert len(callees(code, symbol)) == 1
        assert not code.was_cut
