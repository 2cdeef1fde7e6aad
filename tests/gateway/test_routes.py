"""Requests choose among configured providers, and among nothing else; addresses are safe before they are opened."""

from __future__ import annotations

import pytest

from laconic.errors import BadSetting, UsageError
from laconic.gateway.headers import upward
from laconic.gateway.routes import NoRoute, Upstreams, target, upstreams

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
        ("/../v1/chat/completions", {"authorization": "Bearer k"}, "http://o/../v1/chat/completions", ""),
        ("//evil.example/x", {"authorization": "Bearer k"}, "http://o//evil.example/x", ""),
        ("/@evil.example", {"authorization": "Bearer k"}, "http://o/@evil.example", ""),
        ("/v1beta/models/../../x:generateContent", {}, "http://g/v1beta/models/../../x:generateContent", ""),
        ("/v1/chat/completions", {"x-api-key": "k"}, "http://a/v1/chat/completions", "chat"),
        ("/v1/models", {"authorization": "Bearer sk-ant-api03-x"}, "http://a/v1/models", ""),
        ("/v1/models", {"x-goog-api-key": "k"}, "http://g/v1/models", ""),
        ("/v1/models", {"authorization": "Bearer sk-proj-x"}, "http://o/v1/models", ""),
        ("/v1/messages", {"authorization": "Bearer token-of-a-proxy"}, "http://a/v1/messages", "anthropic"),
        ("/anything", {"x-api-key": "k"}, "http://a/anything", ""),
        ("/anything", {"api-key": "k"}, "http://o/anything", ""),
    ],
)
def test_where_a_request_goes(path: str, headers: dict[str, str], address: str, format: str) -> None:
    found = target(KNOWN, "POST", path, headers)
    assert (found.base + found.path, found.format) == (address, format)


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/v2/models", "//evil.example/x", "/ollamas/v1", "/laconic"])
def test_a_request_without_a_route_and_without_a_key_goes_nowhere(path: str) -> None:
    with pytest.raises(NoRoute):
        target(KNOWN, "GET", path, {"user-agent": "x"})


@pytest.mark.parametrize(
    ("path", "headers", "query"),
    [
        ("/v1/messages", {"authorization": "Bearer sk-proj-x"}, ""),
        ("/v1/messages", {"x-goog-api-key": "k"}, ""),
        ("/v1/messages", {"x-api-key": "k"}, "key=AIzaSyx"),
        ("/v1beta/models/g-3:generateContent", {"x-api-key": "k"}, ""),
        ("/v1beta/models/g-3:generateContent", {"authorization": "Bearer sk-ant-x"}, ""),
        ("/v1beta/models", {"authorization": "Bearer sk-svcacct-x"}, ""),
        ("/v1/chat/completions", {"x-api-key": "k", "x-goog-api-key": "k"}, ""),
    ],
)
def test_a_key_never_goes_to_the_host_of_another_provider(path: str, headers: dict[str, str], query: str) -> None:
    with pytest.raises(UsageError, match="it was not sent"):
        target(KNOWN, "POST", path, headers, query)


def test_one_proxy_for_all_providers_takes_all_keys() -> None:
    proxy = upstreams("http://p", "http://p", "http://p", "")
    assert target(proxy, "POST", "/v1/messages", {"authorization": "Bearer sk-proj-x"}).base == "http://p"


@pytest.mark.parametrize(
    "path", ["/v1/messages", "/v1/chat/completions", "/v1beta/models", "/v1/models", "/", "/b/x"]
)
@pytest.mark.parametrize("headers", [{}, {"x-api-key": "k"}, {"authorization": "Bearer sk-proj-x"}])
def test_without_default_upstreams_only_names_are_routes(path: str, headers: dict[str, str]) -> None:
    known = Upstreams(named={"a": "http://a"})
    assert target(known, "POST", "/a" + path, headers).base == "http://a"
    with pytest.raises(NoRoute):
        target(known, "POST", path, headers)


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
