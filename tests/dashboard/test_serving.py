"""Where the dashboard can be opened: by its own command, and at a gateway."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from laconic.cli.commands.gateway import application, known_upstreams
from laconic.cli.main import main
from laconic.config import Settings, child_environment, load
from laconic.errors import BadSetting, UsageError
from laconic.serving.access_tokens import own_token
from laconic.serving.listen import ListenAddress
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns


def _say(words: list[str], folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A command of ours with folders of its own, and the first line that it prints."""
    own = {"LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_STATE_DIR": str(folder / "state")}
    config = folder / "config.toml"
    config.write_text("")
    command = [sys.executable, "-m", "laconic", *words, "--config", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=child_environment(own))
    assert process.stdout is not None
    return process, process.stdout.readline()


def test_the_command_prints_a_link_that_opens_it(tmp_path: Path) -> None:
    """On a free port, with the token of this user; nothing has to be recorded first."""
    process, said = _say(["dashboard"], tmp_path)
    with process:
        try:
            link = said.split()[-1]
            base, _, token = link.partition("?token=")
            assert base.startswith("http://127.0.0.1:")
            assert token == own_token(tmp_path / "state")
            assert (tmp_path / "state" / "token").stat().st_mode & 0o777 == 0o600
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(base)
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(link) as answer:
                assert answer.url == base
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
    """Below a path of its own, for its token, or else for that of this user; what is beside it goes to the provider."""
    record = Turns(settings.cache_dir() / FILE)
    record.add(TurnRecord(TurnIdentity("one-session"), 1.0, 200, cost=AnswerCost(5, 0, 0, 1, 9.0)))
    record.close()
    app = application(
        known_upstreams(settings, "", ""), settings, off=False, where=ListenAddress("127.0.0.1", 0, token)
    )
    known = token or own_token(settings.state_dir())
    base = "/laconic/dashboard/"
    with TestClient(app, base_url="http://127.0.0.1:8787", follow_redirects=False) as gateway:
        moved = gateway.get("/laconic/dashboard?token=x")
        assert (moved.status_code, moved.headers["location"]) == (308, f"{base}?token=x")
        for path in (
            "",
            "?days=0",
            "sessions",
            "session?name=one-session",
            "static/dashboard.css",
            "api/models.json",
        ):
            assert gateway.get(base + path).status_code == 401, path
            assert gateway.get(base + path, headers={"x-laconic-token": known}).status_code == 200, path
        assert "one-session" in gateway.get(f"{base}?days=0", headers={"x-laconic-token": known}).text
        entered = gateway.get(f"{base}sessions?token={known}")
        assert entered.headers["location"] == f"{base}sessions"
        assert f"path={base}" in entered.headers["set-cookie"].lower()
        assert gateway.get(f"{base}sessions").status_code == 200


def test_a_gateway_that_cannot_keep_a_token_shows_its_pages_to_nobody(tmp_path: Path) -> None:
    """It still passes requests on."""
    (tmp_path / "state").write_text("no folder")
    own = {"cache_dir": str(tmp_path / "cache"), "state_dir": str(tmp_path / "state")}
    settings = load(flags=own, environ={}, file=tmp_path / "none.toml")
    app = application(known_upstreams(settings, "", ""), settings, off=False)
    with TestClient(app, base_url="http://127.0.0.1:8787", follow_redirects=False) as gateway:
        assert gateway.get("/healthz").status_code == 200
        for path in ("/laconic/dashboard/", "/laconic/dashboard/?token=", "/metrics", "/laconic/sessions"):
            assert gateway.get(path, headers={"x-laconic-token": ""}).status_code == 401, path


@pytest.mark.parametrize("command", [["gateway"], ["dashboard"], ["mcp", "--http", "127.0.0.1:0"]])
def test_a_token_on_the_command_line_is_refused(command: list[str]) -> None:
    """Every user of the machine reads the process list; the message does not repeat the token."""
    for words in (["--token", "sesame"], ["--token=sesame"], ["--token"]):
        with pytest.raises(UsageError, match="--token-file") as refused:
            main([*command, *words])
        assert "sesame" not in str(refused.value)


def test_a_token_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "chosen"
    file.write_text("chosen-word\n")
    process, said = _say(["dashboard", "--token-file", str(file)], tmp_path)
    with process:
        process.terminate()
        assert said.split()[-1].endswith("/?token=chosen-word")
        assert not (tmp_path / "state").exists()
