"""Print which tests hold which promise, with its origin and its example; fail when a promise or an example has none."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROMISES = ROOT / "docs" / "promises"


ROW = re.compile(
    r"^## (?P<id>[A-Z]\d+) (?P<title>.+)\n"
    r"(?:\n\*Origin:\* (?P<origin>.+?)\. \*Example:\* (?P<example>.+?) \(`(?P<test>\w+)`\)\.$)?",
    re.MULTILINE,
)


class Promise(NamedTuple):
    """A row of the pages on promises; origin, example and its test where the page names them."""

    title: str
    origin: str = ""
    example: str = ""
    test: str = ""


def promises() -> dict[str, Promise]:
    """Row id to promise, from the headings of the pages and the lines below them."""
    rows: dict[str, Promise] = {}
    for page in sorted(PROMISES.glob("*.md")):
        for match in ROW.finditer(page.read_text("utf-8")):
            rows[match["id"]] = Promise(*(match[name] or "" for name in ("title", "origin", "example", "test")))
    return rows


class Collector:
    """A pytest plugin that notes the feature marks of collected tests."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for mark in item.iter_markers("feature"):
                for row in mark.args:
                    self.tests.setdefault(row, []).append(item.nodeid.split("[")[0])


def main() -> int:
    collector = Collector()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = pytest.main(["--collect-only", "-q", str(ROOT / "tests")], [collector])
    if code:
        print(said.getvalue(), file=sys.stderr)
        return int(code)
    rows = promises()
    unheld: list[str] = []
    for row, promise in rows.items():
        tests = sorted(set(collector.tests.get(row, [])))
        print(f"{row:4} {promise.title}")
        if promise.example:
            print(f"     from {promise.origin}; example: {promise.example} ({promise.test})")
        print("".join(f"       {test}\n" for test in tests) or "       NO TEST\n", end="")
        if promise.test and not any(test.endswith(f"::{promise.test}") for test in tests):
            unheld.append(f"{row} {promise.test}")
    missing = [row for row in rows if row not in collector.tests]
    unknown = sorted(set(collector.tests) - set(rows))
    print(f"\n{len(rows) - len(missing)} of {len(rows)} promises have tests.")
    if missing:
        print(f"Without a test: {', '.join(missing)}")
    if unheld:
        print(f"Examples without their test: {', '.join(unheld)}")
    if unknown:
        print(f"Marks that name no promise: {', '.join(unknown)}")
    return 1 if missing or unknown or unheld else 0


if __name__ == "__main__":
    sys.exit(main())
