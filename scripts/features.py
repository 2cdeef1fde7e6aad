"""Print which tests hold which promise, and fail when a promise has none."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROMISES = ROOT / "docs" / "promises"


def promises() -> dict[str, str]:
    """Row id to title, from the headings of the pages on promises."""
    rows: dict[str, str] = {}
    for page in sorted(PROMISES.glob("*.md")):
        for match in re.finditer(r"^## ([A-Z]\d+) (.+)$", page.read_text("utf-8"), re.MULTILINE):
            rows[match[1]] = match[2]
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
    for row, title in rows.items():
        tests = sorted(set(collector.tests.get(row, [])))
        print(f"{row:4} {title}")
        print("".join(f"       {test}\n" for test in tests) or "       NO TEST\n", end="")
    missing = [row for row in rows if row not in collector.tests]
    unknown = sorted(set(collector.tests) - set(rows))
    print(f"\n{len(rows) - len(missing)} of {len(rows)} promises have tests.")
    if missing:
        print(f"Without a test: {', '.join(missing)}")
    if unknown:
        print(f"Marks that name no promise: {', '.join(unknown)}")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
