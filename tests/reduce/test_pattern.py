"""Patterns that somebody else wrote: harmless ones compile, those that need all memory do not."""

from __future__ import annotations

import pytest

from laconic.errors import UsageError
from laconic.reduce.pattern import compile_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}",
        r"a{200}b{200}c{200}d{200}",
        r"(?:[0-9a-f]{8}){16}",
        r"[{}]{3}x{,5}\{9999999\}",
    ],
)
def test_repetitions_that_follow_each_other_only_add_up(pattern: str) -> None:
    assert compile_pattern(pattern).pattern == pattern


@pytest.mark.parametrize(
    "pattern", [r"(?:(?:a{100}){100}){100}", r"x{999999999}", r"(a{900}b{900}){900}", r"a{400}{400}"]
)
def test_repetitions_within_each_other_are_refused_when_they_are_too_many(pattern: str) -> None:
    with pytest.raises(UsageError, match="repeats things"):
        compile_pattern(pattern)


def test_what_is_no_pattern_is_refused_with_the_reason() -> None:
    for pattern in ("(", "(" * 200, "(?R)", "a" * 20_000):
        with pytest.raises(UsageError, match="simplify"):
            compile_pattern(pattern)
