"""What speaks for running a test after a change, each kind of evidence alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.index.affected.evidence import evidence
from laconic.index.compare.symbols import compare
from laconic.records import FileChange, Hunk
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

OLD = "def price(order):\n    return order.total\n"
NEW = "def price(order):\n    return order.total + shipping_fee(order)\n"
FILES = {
    "shop/billing.py": NEW,
    "shop/fees.py": "def shipping_fee(order):\n    return 1\n",
    "tests/test_billing.py": "def test_nothing():\n    pass\n",
    "tests/test_calls.py": "from shop.billing import price\n\n\ndef test_price():\n    assert price(None)\n",
    "tests/test_words.py": "def test_words(fees):\n    assert fees.shipping_fee\n",
    "tests/test_past.py": "def test_past():\n    pass\n",
    "tests/test_silent.py": "def test_silent():\n    pass\n",
    "tests/billing.test.ts": "test('billing', () => { shipping_fee() })\n",
    "tests/data/billing.json": "{}",
}
HUNK = Hunk(2, 1, 2, 1, ("-    return order.total", "+    return order.total + shipping_fee(order)"))


@pytest.fixture
def points(tmp_path: Path, settings: Settings) -> tuple[dict[str, float], set[str]]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        runtime.index.build()
        change = FileChange("shop/billing.py", "changed", old=OLD.encode(), new=NEW.encode(), hunks=(HUNK,))
        past = [["shop/billing.py", "tests/test_past.py"], ["shop/other.py", "tests/test_silent.py"]]
        return evidence(runtime.code, compare([change]), past)
    finally:
        runtime.close()


def test_calls_names_words_and_history_each_find_their_test(points: tuple[dict[str, float], set[str]]) -> None:
    found, sure = points
    assert sorted(found) == [f"tests/test_{name}.py" for name in ("billing", "calls", "past", "words")]
    assert sure == {"tests/test_billing.py", "tests/test_calls.py"}


def test_a_test_that_calls_the_change_has_the_most(points: tuple[dict[str, float], set[str]]) -> None:
    found, _ = points
    assert max(found, key=lambda path: found[path]) == "tests/test_calls.py"


def test_a_change_without_code_asks_for_no_tests(tmp_path: Path, settings: Settings) -> None:
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        assert evidence(runtime.code, compare([FileChange("a.md", "changed", old=b"# a", new=b"# b")]), []) == (
            {},
            set(),
        )
    finally:
        runtime.close()
