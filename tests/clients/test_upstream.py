"""An address as a user writes it becomes the one that is asked."""

from __future__ import annotations

import pytest

from laconic.clients.wrapped_client import upstream


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("HTTPS://LLM.Corp.Example/V1/", "https://llm.corp.example/V1/"),
        (" http://10.0.0.1:8080/llm ", "http://10.0.0.1:8080/llm"),
    ],
)
def test_a_host_is_asked_by_its_name_in_small_letters_as_clients_do(written: str, asked: str) -> None:
    assert upstream("corp", written, "a setting").url == asked
