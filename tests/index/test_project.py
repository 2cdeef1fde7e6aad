"""Manifests of strangers: one that would take all memory says nothing."""

from __future__ import annotations

import tracemalloc

import pytest

from laconic.index.project import project


@pytest.mark.parametrize("name", ["Cargo.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    "text", ["a" + ".a" * 100_000 + " = 1", "[" + "a." * 100_000 + "a]", "a.b = 1\n" * 50_000, "x = " + "[" * 200_000]
)
def test_a_manifest_that_grows_when_it_is_read_is_passed_over(name: str, text: str) -> None:
    tracemalloc.start()
    assert project(name, text) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000_000


def test_a_plain_one_is_read() -> None:
    found = project("Cargo.toml", '[package]\nname = "one"\n[dependencies]\na.b.c = "1.2.3"\n')
    assert found is not None
    assert (found.name, found.dependencies) == ("one", ("a",))
