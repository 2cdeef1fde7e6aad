"""A small code base that many tests ask questions about."""

from __future__ import annotations

import subprocess
from pathlib import Path

FILES = {
    "shop/__init__.py": 'from shop.cart import Cart\n\n__all__ = ["Cart"]\n',
    "shop/cart.py": '''"""The cart of a shop."""

from shop.money import Price, total


class Cart:
    """Items that somebody wants to buy."""

    def __init__(self) -> None:
        self.items: list[Price] = []

    def add(self, price: Price, count: int = 1) -> None:
        """Put an item into the cart."""
        if count < 1:
            raise ValueError("count must be positive")
        for _ in range(count):
            self.items.append(price)

    def checkout(self) -> Price:
        """What the whole cart costs."""
        return total(self.items)
''',
    "shop/money.py": '''"""Prices and sums of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Price:
    """An amount in cents."""

    cents: int


def total(prices: list[Price]) -> Price:
    """The sum of some prices."""
    amount = 0
    for price in prices:
        amount += price.cents
    return Price(amount)
''',
    "shop/__main__.py": '''"""Run the shop."""

from shop import Cart
from shop.money import Price


def main() -> None:
    cart = Cart()
    cart.add(Price(250), 2)
    print(cart.checkout())


main()
''',
    "tests/test_cart.py": """from shop.cart import Cart
from shop.money import Price


def test_checkout_sums_the_items() -> None:
    cart = Cart()
    cart.add(Price(5))
    assert cart.checkout() == Price(5)
""",
    "web/app.ts": """import { format } from "./format";

export interface Item {
  name: string;
}

/** Shows one item. */
export function show(item: Item): string {
  return format(item.name);
}
""",
    "web/format.ts": "export function format(text: string): string {\n  return text.trim();\n}\n",
    "README.md": "# Shop\n\nFill the cart, then check out.\n\n## Install\n\npip install shop\n",
    "pyproject.toml": """[project]
name = "shop"
version = "1.2"
dependencies = ["httpx>=0.27"]

[project.scripts]
shop = "shop.__main__:main"
""",
}


def shop(folder: Path) -> Path:
    """The shop as a git repository below a folder."""
    root = folder / "shop-repo"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
    return root


def git(root: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
