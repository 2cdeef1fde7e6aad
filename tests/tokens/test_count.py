"""Counting tokens: exact where a vocabulary is public, named as an estimate where not."""

from __future__ import annotations

import pytest

from laconic.models.find_model import find_model
from laconic.tokens.count import Counter, counter


@pytest.mark.feature("J1")
def test_the_tokens_of_a_small_class() -> None:
    assert 5 < counter("gpt-5")("public class Foo {\n  void bar() {}\n}") < 20


@pytest.mark.feature("J1")
def test_special_looking_text_is_counted_as_text() -> None:
    """A file may contain `<|endoftext|>`; it must not be taken for one token."""
    count = counter("gpt-5")
    assert count("<|endoftext|>") > 3
    assert count.exact
    assert count.name == "o200k_base"


@pytest.mark.feature("J1")
def test_without_the_wheel_a_counter_says_that_it_estimates() -> None:
    count = Counter(find_model("gpt-5").tokenizer, None)
    assert count("def main() -> None:\n    return\n") > 5
    assert not count.exact
    assert count.name == "estimate of o200k_base"


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o-mini", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("o3-mini", "o200k_base", True),
        ("openrouter/anthropic/claude-sonnet-4.5:free", "o200k_base", False),
        ("gemini-2.5-pro", "gemma3", False),
        ("meta-llama/Llama-3.1-70B", "llama3", True),
        ("something-new", "o200k_base", False),
    ],
)
def test_models_are_recognised_as_providers_write_them(model: str, encoding: str, exact: bool) -> None:
    kind = find_model(model).tokenizer
    assert (kind.encoding, kind.exact) == (encoding, exact)


def test_lone_surrogates_are_counted() -> None:
    assert counter()("broken \udcff text" * 40) > 40
