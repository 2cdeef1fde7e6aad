"""The estimate for where no tokenizer wheel is available."""

from __future__ import annotations

import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.tokens import estimate as estimate_module
from laconic.tokens.count import counter
from laconic.tokens.estimate import estimate

SAMPLES = {
    "code": inspect.getsource(estimate_module),
    "json": json.dumps(
        [{"path": f"src/app/{i}.py", "line": i * 7, "kind": "def", "ok": i % 2 == 0} for i in range(60)]
    ),
    "log": "".join(
        f"2026-01-0{i % 9 + 1} 12:00:{i:02} INFO worker-{i} request {i * 97} took {i}.5 ms\n" for i in range(60)
    ),
    "prose": (inspect.getdoc(estimate_module) or "") * 4,
    "chinese": "输入用户名和密码后，你将能够编辑更多的用户选项。请再试一次。" * 12,
    "japanese": "パスワードによる認証を無効化します。ユーザーを作成後に詳細情報が編集可能になります。" * 12,
}


@pytest.mark.feature("U1")
@pytest.mark.parametrize("kind", SAMPLES)
def test_close_to_the_real_tokenizer(kind: str) -> None:
    real = counter("o200k_base")(SAMPLES[kind])
    assert estimate(SAMPLES[kind]) == pytest.approx(real, rel=0.15)


@given(st.text(max_size=400))
def test_every_text_has_an_estimate_and_none_is_zero_but_the_empty_one(text: str) -> None:
    assert (estimate(text) > 0) == bool(text)
