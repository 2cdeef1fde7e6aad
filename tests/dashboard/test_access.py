"""Who may see the pages."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.dashboard.conftest import TOKEN, stranger

from laconic.config import Settings
from laconic.dashboard.app import PAGES, make_standalone_application
from laconic.serving.hosts import AllowedHosts

PATHS = [
    *(f"/{name}" for name in PAGES),
    *(f"/api/{name or 'overview'}.json" for name in PAGES),
    "/archive.txt",
    "/static/dashboard.js",
    "/nowhere",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_path_wants_the_token(recorded: Settings, path: str) -> None:
    """On this machine too: others have accounts on it."""
    nobody = stranger(recorded)
    for headers in ({}, {"x-laconic-token": "sesam"}, {"authorization": "Bearer sesam"}, {"authorization": TOKEN}):
        refused = nobody.get(path, headers=headers)
        assert refused.status_code == 401
        assert refused.headers.get("set-cookie") is None
    assert nobody.get(path, headers={"x-laconic-token": TOKEN}).status_code in {200, 404}
    assert nobody.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code in {200, 404}


def test_an_empty_token_admits_nobody(recorded: Settings) -> None:
    """A gateway that cannot keep a token shows its pages to no one."""
    closed = stranger(recorded, token="")
    for headers in ({}, {"x-laconic-token": ""}, {"authorization": "Bearer "}, {"cookie": "laconic_dashboard_8000="}):
        assert closed.get("/", headers=headers).status_code == 401
    assert closed.get("/?token=").status_code == 401
    assert closed.post("/", data={"token": ""}).status_code == 401


def test_the_printed_link_opens_it(recorded: Settings) -> None:
    """The browser gets a cookie and goes on at the address without the token."""
    browser: TestClient = stranger(recorded)
    assert browser.get("/?token=wrong").status_code == 401
    entered = browser.get(f"/sessions?order=last&token={TOKEN}&page=1")
    assert (entered.status_code, entered.headers["location"]) == (303, "/sessions?order=last&page=1")
    cookie = entered.headers["set-cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert browser.get("/sessions?order=last&page=1").status_code == 200
    assert browser.get("/api/overview.json").status_code == 200
    assert browser.get("/", headers={"origin": "http://evil.example"}).status_code == 403


def test_a_form_takes_the_token_too(recorded: Settings) -> None:
    browser: TestClient = stranger(recorded)
    assert 'name="token"' in browser.get("/").text
    assert browser.get("/", headers={"cookie": f"laconic_dashboard_8000={TOKEN}"}).status_code == 401
    assert browser.post("/", data={"token": "wrong"}).status_code == 401
    assert browser.post("/", content=b"token=" + b"x" * 10_000).status_code == 413
    assert browser.post("/", data={"token": TOKEN}, headers={"origin": "http://evil.example"}).status_code == 403
    entered = browser.post("/", data={"token": TOKEN})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert browser.get("/").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_no_link_leads_to_another_site(recorded: Settings, path: str) -> None:
    """The address that the browser is sent to is one of ours, whatever stood before the token."""
    app = make_standalone_application(recorded, TOKEN, AllowedHosts())
    browser = TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    entered = browser.get(f"http://127.0.0.1:8000{path}?token={TOKEN}")
    assert entered.status_code == 303
    assert entered.headers["location"].startswith("/evil")


def test_a_cookie_is_for_one_port(recorded: Settings) -> None:
    """Browsers send cookies to every port of a host: that of another dashboard neither opens this one nor breaks it."""
    browser = stranger(recorded)
    given = browser.get(f"/?token={TOKEN}").headers["set-cookie"].split(";")[0]
    other = given.replace("_8000=", "_9000=")
    assert stranger(recorded, "127.0.0.1:8000").get("/", headers={"cookie": other}).status_code == 401
    both = {"cookie": f"{given}; laconic_dashboard_9000=of-another"}
    assert stranger(recorded, "127.0.0.1:8000").get("/", headers=both).status_code == 200


def test_pages_of_other_sites_are_refused(pages: TestClient) -> None:
    """A name that was pointed here, and another page's script, even with the token."""
    for host in ("evil.example:8000", "127.0.0.1.evil.example", "[", ""):
        assert pages.get("/api/overview.json", headers={"host": host}).status_code == 403, host
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9", "http://127.0.0.1:8000.evil.example"):
        assert pages.get("/", headers={"origin": origin}).status_code == 403, origin
    assert pages.get("/", headers={"origin": "http://127.0.0.1:8000"}).status_code == 200
    assert pages.post("/").status_code == 405


@pytest.mark.parametrize(
    "path", ["/", "/api/overview.json", "/static/dashboard.js", "/nowhere", "/archive.txt?ref=x"]
)
@pytest.mark.parametrize("token", [TOKEN, "wrong"])
def test_browsers_are_told_to_keep_everything_closed(pages: TestClient, path: str, token: str) -> None:
    """No other origin, no frame, no guessing of types, no copy on disk."""
    headers = pages.get(path, headers={"x-laconic-token": token}).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
