"""Requests choose among configured providers, and among nothing else; addresses are safe before they are opened."""

from __future__ import annotations

import pytest

from laconic.errors import BadSetting, UsageError
from laconic.gateway.headers import upward
from laconic.gateway.routes import target, upstreams

KNOWN = upstreams(
    "http://a", "http://o/v1/", "http://g", "ollama=http://127.0.0.1:11434, router=https://r.example/api/v1"
)


@pytest.mark.parametrize(
    ("path", "headers", "address", "format"),
    [
        ("/v1/messages", {}, "http://a/v1/messages", "anthropic"),
        ("/v1/messages/count_tokens", {}, "http://a/v1/messages/count_tokens", ""),
        ("/v1/chat/completions", {}, "http://o/v1/chat/completions", "chat"),
        ("/v1/responses", {}, "http://o/v1/responses", "responses"),
        ("/v1/models", {}, "http://o/v1/models", ""),
        ("/v1/models", {"anthropic-version": "1"}, "http://a/v1/models", ""),
        ("/v1beta/models/g-3:generateContent", {}, "http://g/v1beta/models/g-3:generateContent", "gemini"),
        ("/v1beta/models", {}, "http://g/v1beta/models", ""),
        ("/ollama/v1/chat/completions", {}, "http://127.0.0.1:11434/v1/chat/completions", "chat"),
        ("/router/v1/messages", {}, "https://r.example/api/v1/messages", "anthropic"),
        ("/api/v1/chat/completions", {}, "http://o/api/v1/chat/completions", "chat"),
        (
            "/openai/deployments/gpt-5/chat/completions",
            {},
            "http://o/openai/deployments/gpt-5/chat/completions",
            "chat",
        ),
        ("/v1/x/models/g-3:generateContent", {}, "http://g/v1/x/models/g-3:generateContent", "gemini"),
        ("/v1/responses/resp_1", {}, "http://o/v1/responses/resp_1", ""),
        ("/v1/threads/t/messages", {}, "http://o/v1/threads/t/messages", ""),
        ("/../v1/chat/completions", {}, "http://o/../v1/chat/completions", ""),
        ("//evil.example/x", {}, "http://o//evil.example/x", ""),
        ("/@evil.example", {}, "http://o/@evil.example", ""),
        ("/v1beta/models/../../x:generateContent", {}, "http://g/v1beta/models/../../x:generateContent", ""),
    ],
)
def test_where_a_request_goes(path: str, headers: dict[str, str], address: str, format: str) -> None:
    found = target(KNOWN, "POST", path, headers)
    assert (found.base + found.path, found.format) == (address, format)


@pytest.mark.parametrize("path", ["", "x", "http://evil", "/a b", "/a\r\nx: y", "/\x00", "/é"])
def test_odd_paths_are_refused(path: str) -> None:
    with pytest.raises(UsageError):
        target(KNOWN, "POST", path, {})


@pytest.mark.parametrize("url", ["", "ftp://x", "x", "http://", "http://x?y=1", "file:///etc/passwd"])
def test_an_upstream_is_an_address(url: str) -> None:
    with pytest.raises(BadSetting):
        upstreams(url, "http://o", "http://g", "")


@pytest.mark.parametrize("named", ["ollama", "A b=http://x", "=http://x"])
def test_a_named_upstream_has_a_plain_name(named: str) -> None:
    with pytest.raises(BadSetting):
        upstreams("http://a", "http://o", "http://g", named)


def test_headers_of_one_connection_do_not_pass() -> None:
    raw = [
        (b"Connection", b"close, X-Secret-Hop"),
        (b"x-secret-hop", b"1"),
        (b"host", b"gw"),
        (b"transfer-encoding", b"chunked"),
    ]
    assert upward([*raw, (b"x-api-key", b"k"), (b"x-laconic-session", b"s")]) == [("x-api-key", "k")]
