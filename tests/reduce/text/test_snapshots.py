"""Reduced texts as a person reads them: `samples/NAME` gives `samples/NAME.reduced`, or `.within-N` for a budget N.

After a wanted change run this file as a program, and read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.reduce.text import detect, reduce_text
from laconic.tokens.count import counter

SAMPLES = Path(__file__).parent / "samples"
COST = counter()
KINDS = {
    "jest.txt": "tests", "cargo_test.txt": "tests", "gradle.txt": "tests", "mocha.txt": "tests", "maven.txt": "tests",
    "vitest.txt": "tests", "pytest_run.txt": "tests",
    "unittest_run.txt": "tests", "gcc.txt": "diagnostics", "pylint.txt": "diagnostics",
    "server_log.txt": "log", "search.txt": "search", "api.json": "json", "events.txt": "stream", "page.html": "html",
    "wrapped_traceback.txt": "trace", "go_test.txt": "tests", "install.txt": "build", "files.txt": "listing",
}  # fmt: skip
BUDGETS = {"jest.txt": 150, "cargo_test.txt": 160, "gcc.txt": 120, "server_log.txt": 120, "search.txt": 90}


def reduced(name: str, budget: int = 0) -> str:
    text = (SAMPLES / name).read_bytes().decode()
    return reduce_text(text, cost=COST, budget=budget, more="laconic recall 0a1b2c3d").text + "\n"


@pytest.mark.parametrize(("name", "kind"), KINDS.items(), ids=KINDS)
def test_each_sample_is_recognised(name: str, kind: str) -> None:
    assert detect((SAMPLES / name).read_bytes().decode()) == kind


@pytest.mark.parametrize("name", KINDS)
def test_each_sample_reduces_as_recorded(name: str) -> None:
    assert reduced(name) == (SAMPLES / f"{name}.reduced").read_text("utf-8")


@pytest.mark.parametrize("name", BUDGETS)
def test_each_sample_fits_its_budget_as_recorded(name: str) -> None:
    budget = BUDGETS[name]
    text = reduced(name, budget)
    assert COST(text.rstrip("\n")) <= budget
    assert text == (SAMPLES / f"{name}.within-{budget}").read_text("utf-8")


def test_every_sample_is_tested() -> None:
    recorded = {f"{name}.reduced" for name in KINDS} | {f"{name}.within-{budget}" for name, budget in BUDGETS.items()}
    assert {path.name for path in SAMPLES.iterdir()} == recorded | set(KINDS)


if __name__ == "__main__":
    for sample in KINDS:
        (SAMPLES / f"{sample}.reduced").write_text(reduced(sample), "utf-8")
    for sample, limit in BUDGETS.items():
        (SAMPLES / f"{sample}.within-{limit}").write_text(reduced(sample, limit), "utf-8")
