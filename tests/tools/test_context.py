"""`context`: the function to change first, the lines that say most of a task, names; nothing that was sent before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import Settings
from laconic.tokens.count import counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools

FILLER = "".join(f"    step_{n} = prepare({n})\n" for n in range(60))
LONG = f"def ship(order):\n{FILLER}    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n{FILLER}"


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(shop(tmp_path), settings, tools())
    (opened.root / "shop" / "shipping.py").write_text(LONG)
    yield opened
    opened.close()


def test_of_a_long_function_the_lines_about_the_task_come_first(runtime: ToolRuntime) -> None:
    task = "Shipping: the parcel weight of an order is compared with the heaviest, Overweight is raised wrongly"
    whole = runtime.call("context", {"task": task, "budget": "1500"}).text
    first = whole.partition("shop/shipping.py\n")[2].partition("\nshop/")[0]
    assert first.startswith("1-123\ndef ship(order):\n")
    assert "    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n" in first


@pytest.mark.feature("U5")
def test_the_function_to_change_comes_first_with_its_signature_its_class_its_callers_and_its_tests(
    runtime: ToolRuntime,
) -> None:
    (runtime.root / "shop" / "discount.py").write_text(
        "# Copyright of nobody.\n# All rights given away: a discount of the licence.\n\n\nclass Discounts:\n"
        "    def apply_discount(self, order, percent):\n        if percent > 100:\n"
        "            raise ValueError(percent)\n        return order.total * (100 - percent) / 100\n"
        "\n\ndef sell(order):\n"
        "    return Discounts().apply_discount(order, 10)\n"
    )
    (runtime.root / "tests" / "test_discount.py").write_text(
        "from shop.discount import Discounts\n\n\ndef test_apply():\n    Discounts().apply_discount(None, 10)\n"
    )
    said = runtime.call(
        "context", {"task": "Applying a discount above 100 percent raises ValueError", "budget": 1200}
    ).text
    assert said.startswith(
        "shop/discount.py\n6-9 in Discounts\n    def apply_discount(self, order, percent):\n        if percent > 100:\n"
        "            raise ValueError(percent)\n        return order.total * (100 - percent) / 100\n"
        "  called from: sell :13\n  tests: test_apply tests/test_discount.py:5\n"
    )
    assert "Copyright" not in said
    headings = [line for line in said.split("\n") if line.startswith(("shop/", "tests/"))]
    assert len(headings) == len(set(headings))


def test_no_word_of_a_name_is_cut(runtime: ToolRuntime) -> None:
    long = (
        "def compute_the_total_of_everything_that_was_ordered_before(order_number, customer_number, warehouse): ...\n"
    )
    (runtime.root / "shop" / "long.py").write_text(long)
    said = runtime.call("context", {"task": "compute the total of everything ordered", "show": "names"}).text
    assert "1 def compute_the_total_of_everything_that_was_ordered_before(order_number…\n" in said


def test_the_last_line_says_how_many_of_how_many_and_goes_on(runtime: ToolRuntime) -> None:
    task = "total of the prices in a cart, and how an order is shipped when it is overweight"
    first = runtime.call("context", {"task": task, "budget": 150}).text
    found = re.search(r"\[(\d+) of (\d+) places; more: (?:context\(.*)?offset=(\d+)\)?\]\n$", first)
    assert found is not None
    assert found[1] == found[3]
    later = runtime.call("context", {"task": task, "budget": 150, "offset": int(found[3])}).text
    assert not set(first.split("\n")[1:-2]) & {line for line in later.split("\n") if line[:1].isdigit()}


def test_a_function_that_is_shown_is_not_named_again(runtime: ToolRuntime) -> None:
    task = "Shipping: the parcel weight of an order is compared with the heaviest, Overweight is raised wrongly"
    code = runtime.call("context", {"task": task, "budget": "1500", "show": "code"}).text
    assert "    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n" in code
    assert code.count("def ship(order):") == 1
    names = runtime.call("context", {"task": task, "budget": "1500", "show": "names"}).text
    assert "1 def ship(order):\n" in names
    assert "order.parcel_weight" not in names
    both = runtime.call("context", {"task": task, "budget": "4000"}).text
    assert both.count("def ship(order):") == 1


@pytest.mark.feature("C6")
def test_lines_that_the_session_has_are_not_sent_again_nor_replaced_by_lesser_ones(runtime: ToolRuntime) -> None:
    session = Session()
    given = {"task": "total of the prices in a cart", "budget": "1500"}
    first = runtime.call("context", given, session)
    second = runtime.call("context", given, session)
    assert "amount += price.cents" in first.text
    assert "amount += price.cents" not in second.text
    assert second.tokens < first.tokens
    again = runtime.call("context", {**given, "again": True}, session)
    assert again.text == first.text


def test_what_is_of_one_file_stands_together(runtime: ToolRuntime) -> None:
    task = "total of the prices in a cart, and how an order is shipped when it is overweight"
    for show in ("names", "code"):
        answer = runtime.call("context", {"task": task, "budget": "1500", "show": show}).text
        headings = [line for line in answer.split("\n") if line.startswith("shop/")]
        assert len(headings) > 1
        assert len(headings) == len(set(headings))


@pytest.mark.parametrize("budget", ["50", "80", "100"])
def test_the_smallest_budget_has_room_for_a_name(runtime: ToolRuntime, budget: str) -> None:
    answer = runtime.call("context", {"task": "total of the prices in a cart", "budget": budget}).text
    assert "shop/" in answer


def test_an_answer_that_was_given_before_says_so(runtime: ToolRuntime) -> None:
    session = Session()
    given = {"task": "total of the prices in a cart", "show": "code"}
    first = runtime.call("context", given, session)
    second = runtime.call("context", given, session)
    assert "amount += price.cents" in first.text
    assert second.text == "all lines that matter were shown above (again=true repeats it)\n"


JAVA = """package shop;

class Parcels {
    /**
     * Weighs a parcel.
     * @throws Overweight if the weight of the parcel is above the heaviest
     */
    @Override
    public int weigh(Parcel parcel) {
%s        if (parcel.weight() > heaviest) {
            throw new Overweight(parcel);
        }
        return parcel.weight();
    }
}
"""
SCRIPT = """/**
 * Weigh a parcel: the weight of the parcel.
 */
parcels.weigh = function weigh(parcel) {
  return parcel.format({
    text: function () {
      return 'weight of the parcel ' + parcel.weight
    }
  })
}

start(parcels)
// overweight parcel
weigh(parcels)
"""


@pytest.mark.feature("U5")
def test_no_line_of_a_comment_stands_before_the_signature_or_without_it(runtime: ToolRuntime) -> None:
    (runtime.root / "Parcels.java").write_text(JAVA % "".join(f"        step({n});\n" for n in range(90)))
    said = runtime.call(
        "context", {"task": "The weight of a parcel above the heaviest: Overweight", "budget": 1200}
    ).text
    assert "Parcels.java\n8-104 in Parcels\n" in said
    assert "    public int weigh(Parcel parcel) {\n" in said
    assert "@throws" not in said
    assert "            throw new Overweight(parcel);\n        }\n" in said


@pytest.mark.feature("U5")
def test_a_function_in_a_function_is_shown_where_it_stands(runtime: ToolRuntime) -> None:
    (runtime.root / "parcels.js").write_text(SCRIPT)
    said = runtime.call("context", {"task": "text of the weight of a parcel, weigh", "budget": 1200}).text
    code = said.partition("parcels.js\n")[2]
    assert code.count("text: function () {") == 1
    assert code.index("parcels.weigh = function weigh(parcel) {") < code.index("text: function () {")
    assert "* Weigh a parcel" not in said


@pytest.mark.feature("U5")
def test_no_fragment_of_a_docstring_is_shown_as_code(runtime: ToolRuntime) -> None:
    said = '    """Sell a parcel.\n\n    The heaviest parcel is sold first, whatever its weight.\n    """\n'
    steps = "".join(f"    step_{n} = prepare({n})\n" for n in range(90))
    (runtime.root / "shop" / "sale.py").write_text(
        f"def sell(\n    parcel,\n):\n{said}{steps}    return heaviest(parcel)\n"
    )
    text = runtime.call(
        "context", {"task": "sell the heaviest parcel by weight", "budget": 800, "path": "shop/sale.py"}
    ).text
    assert "def sell(\n    parcel,\n):\n" in text
    assert "whatever its weight" not in text
    assert "return heaviest(parcel)" in text


@pytest.mark.feature("U5")
def test_a_docstring_is_shown_below_its_signature_where_there_is_room_for_it(runtime: ToolRuntime) -> None:
    said = '    """Sell a parcel.\n\n    The heaviest parcel is sold first, whatever its weight.\n    """\n'
    steps = "".join(f"    step_{n} = prepare_the_parcel_number({n}, with_paper=True)\n" for n in range(400))
    (runtime.root / "shop" / "sale.py").write_text(f"def sell(parcel):\n{said}{steps}    return heaviest(parcel)\n")
    asked = {"task": "sell the heaviest parcel by weight", "path": "shop/sale.py"}
    text = runtime.call("context", asked | {"budget": 6_000}).text
    assert 0 <= text.index("def sell(parcel):") < text.index("whatever its weight")


def test_code_alone_uses_up_its_budget(runtime: ToolRuntime) -> None:
    deep = " " * 12
    steps = "".join(
        f"{deep}parcel_{n} = weigh(parcel)\n{deep}if parcel_{n}:\n{deep}    weigh(parcel_{n})\n\n" for n in range(30)
    )
    for number in range(40):
        (runtime.root / "shop" / f"sale_{number}.py").write_text(
            f"def sell_{number}(parcel):\n    if parcel:\n        for each in parcel:\n{steps}"
        )
    runtime.index.build()
    reply = runtime.call("context", {"task": "weigh the parcel that we sell", "show": "code", "budget": 3_000})
    assert 2_850 <= counter()(reply.text) <= 3_000


@pytest.mark.feature("U3", "U5")
def test_a_function_of_which_the_end_is_not_shown_says_so(runtime: ToolRuntime) -> None:
    body = "".join(f"    step_{n} = prepare({n})\n" for n in range(40))
    (runtime.root / "shop" / "stubbed.py").write_text(
        f"def find_stubbed_answer(invocation):\n    with synchronized(stubbed):\n{body}    return None\n"
    )
    said = runtime.call("context", {"task": "find stubbed answer is synchronized wrongly", "budget": 700}).text
    assert "def find_stubbed_answer(invocation):\n" in said
    shown = said.partition("def find_stubbed_answer")[2]
    assert "    return None" in shown or re.search(r"… \d+-43\n", shown)


@pytest.mark.feature("U5")
def test_a_small_answer_shows_no_imports_as_code(runtime: ToolRuntime) -> None:
    (runtime.root / "shop" / "Container.java").write_text(
        "package shop;\n\nimport org.stubbing.Stubbing;\nimport org.stubbing.Invocation;\n\n"
        "class Container {\n    void setInvocation(Invocation invocation) {\n        this.stubbing = invocation;\n"
        "    }\n}\n"
    )
    said = runtime.call(
        "context", {"task": "Data race on the stubbing of an invocation in Container", "budget": 1200}
    )
    assert "setInvocation" in said.text
    assert "import org" not in said.text
