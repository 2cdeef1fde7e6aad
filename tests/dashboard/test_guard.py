"""Who may see the pages."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.dashboard.conftest import client

from laconic.config import Settings


def test_only_this_machine_may_look(recorded: Settings) -> None:
    """Another machine, a name that was pointed here, and another page's script are refused."""
    assert client(recorded).get("/").status_code == 200
    assert client(recorded, host="localhost:9").get("/").status_code == 200
    assert client(recorded, host="[::1]:9").get("/").status_code == 200
    assert client(recorded, peer="192.0.2.7").get("/").status_code == 403
    for host in ("evil.example:8000", "127.0.0.1.evil.example", "[", ""):
        assert client(recorded).get("/api/overview.json", headers={"host": host}).status_code == 403, host
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9", "http://127.0.0.1:8000.evil.example"):
        assert client(recorded).get("/", headers={"origin": origin}).status_code == 403, origin
    assert client(recorded).get("/", headers={"origin": "http://127.0.0.1:8000"}).status_code == 200
    assert client(recorded).post("/").status_code == 405


def test_a_token_opens_it_from_anywhere(recorded: Settings) -> None:
    """In a header, or once in a form; the cookie that follows is not the token."""
    far: TestClient = client(recorded, token="sesame", peer="192.0.2.7", host="team.example")
    assert far.get("/").status_code == 401
    refused = far.get("/api/overview.json")
    assert (refused.status_code, list(refused.json())) == (401, ["error"])
    assert far.get("/", headers={"x-laconic-token": "sesam"}).status_code == 401
    assert far.get("/", headers={"x-laconic-token": "sesame"}).status_code == 200
    assert far.get("/", headers={"cookie": "laconic_dashboard=sesame"}).status_code == 401
    assert far.post("/", data={"token": "wrong"}).status_code == 401
    assert far.post("/", content=b"token=" + b"x" * 10_000).status_code == 413
    assert far.post("/", data={"token": "sesame"}, headers={"origin": "http://evil.example"}).status_code == 403
    entered = far.post("/", data={"token": "sesame"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "sesame" not in cookie
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert far.get("/").status_code == 200


def test_a_token_is_asked_for_on_this_machine_too(recorded: Settings) -> None:
    """Whoever set a token wants it to be said."""
    assert client(recorded, token="sesame").get("/").status_code == 401


@pytest.mark.parametrize(
    "path", ["/", "/api/overview.json", "/static/dashboard.js", "/nowhere", "/archive.txt?ref=x"]
)
def test_browsers_are_told_to_keep_everything_closed(pages: TestClient, path: str) -> None:
    """No other origin, no frame, no guessing of types, no copy on disk."""
    headers = pages.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
