"""Counting tokens: exact where a vocabulary is public, named as an estimate where not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laconic.models.find_model import find_model
from laconic.tokens.count import counter
from laconic_benchmarks.tokens import reference


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


SAMPLES = {
    "code": Path(__file__).read_text("utf-8"),
    "JSON": json.dumps([{"path": f"src/app/{i}.py", "line": i * 7, "ok": i % 2 == 0} for i in range(60)]),
    "log": "".join(f"2026-01-0{i % 9 + 1} 12:00:{i:02} INFO worker-{i} took {i}.5 ms\n" for i in range(60)),
    "prose": "Byte-pair tokenizers first split a text into pieces, and never merge across them. " * 12,
    "Chinese": "输入用户名和密码后，你将能够编辑更多的用户选项。请再试一次。" * 12,
    "Japanese": "パスワードによる認証を無効化します。ユーザーを作成後に詳細情報が編集可能になります。" * 12,
    "nonsense": "q\u0301\u200b\U0001f9d1\u200d\U0001f680 <|endoftext|> \x00\r\n\t " * 12,
}


@pytest.mark.feature("U1")
@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")  # in the reference's own wheel
@pytest.mark.parametrize("kind", SAMPLES)
def test_equal_to_the_real_tokenizer(kind: str) -> None:
    text = SAMPLES[kind]
    assert counter("o200k_base")(text) == len(reference("o200k_base").encode_ordinary(text))


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
