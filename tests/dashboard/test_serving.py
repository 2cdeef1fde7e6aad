"""Where the dashboard can be opened: by its own command, and at a gateway."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from laconic.cli.commands.gateway import application, known_upstreams
from laconic.cli.main import main
from laconic.config import Settings
from laconic.errors import BadSetting
from laconic.sessions.turns import FILE, Cost, Turn, Turns, Who


def test_the_command_serves_on_this_machine(tmp_path: Path) -> None:
    """It says where, on a free port, and answers there; nothing has to be recorded first."""
    config = tmp_path / "config.toml"
    config.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    words = [sys.executable, "-m", "laconic", "dashboard", "--config", str(config)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            base = process.stdout.readline().split()[-1]
            assert base.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(base) as answer:
                assert "laconic wrap claude" in answer.read().decode()
        finally:
            process.terminate()


def test_an_address_that_others_reach_needs_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is opened to a network by mistake."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path))
    with pytest.raises(BadSetting, match="token"):
        main(["dashboard", "--listen", "0.0.0.0:0"])


@pytest.mark.parametrize("token", ["", "sesame"])
def test_a_gateway_has_the_same_pages(settings: Settings, token: str) -> None:
    """Below a path of its own, guarded like its other numbers; what is beside it still goes to the provider."""
    record = Turns(settings.cache_dir() / FILE)
    record.add(Turn(Who("one-session"), 1.0, 200, cost=Cost(5, 0, 0, 1, 9.0)))
    record.close()
    app = application(known_upstreams(settings, "", ""), settings, off=False, token=token)
    with TestClient(
        app, base_url="http://127.0.0.1:8787", client=("127.0.0.1", 5), follow_redirects=False
    ) as gateway:
        moved = gateway.get("/laconic/dashboard")
        assert (moved.status_code, moved.headers["location"]) == (308, "/laconic/dashboard/")
        said = {"x-laconic-token": token} if token else {}
        for path in (
            "",
            "?days=0",
            "sessions",
            "session?name=one-session",
            "static/dashboard.css",
            "api/models.json",
        ):
            assert gateway.get(f"/laconic/dashboard/{path}", headers=said).status_code == 200, path
        assert "one-session" in gateway.get("/laconic/dashboard/?days=0", headers=said).text
        refused = {} if token else {"host": "evil.example"}
        assert gateway.get("/laconic/dashboard/", headers=refused).status_code == (401 if token else 403)
        if token:
            entered = gateway.post("/laconic/dashboard/", data={"token": token})
            assert entered.headers["location"] == "/laconic/dashboard/"
            assert "path=/laconic/dashboard/" in entered.headers["set-cookie"].lower()
            assert gateway.get("/laconic/dashboard/sessions").status_code == 200
