"""A small code base with the things that people search for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.index.workspace_index import Index

FILES = {
    "shop/orders.py": '''"""Orders."""


class OrderBook:
    """Keeps orders."""

    def place_order(self, item, count):
        """Reserve stock for an order and charge the customer."""
        charge(item, count)
        return Receipt(item)

    def cancel(self, number):
        return number


def charge(item, count):
    # refund when the payment, provider declines
    return item * count


def createInvoice(order):
    return order
''',
    "shop/receipts.py": '''class Receipt:
    """A receipt."""

    def __init__(self, item):
        self.item = item


def render_receipt(receipt):
    return str(receipt)
''',
    "shop/http-api.ts": """export class OrderBook {
  cancel(id: number): void {
    retryLater(id);
  }
}

export function retryLater(id: number) {
  return id;
}
""",
    "tests/test_orders.py": """from shop.orders import OrderBook


def test_place_order():
    assert OrderBook().place_order(1, 2)


def charge():
    return None
""",
    "docs/guide.md": "# Guide\n\nHow orders are charged and refunded.\n",
    "settings.json": '{"place_order": true}\n',
}


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("searched")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    index = Index.open(Path(root), tmp_path_factory.mktemp("cache"))
    index.build()
    yield index
    index.close()
