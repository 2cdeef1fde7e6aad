"""A dashboard over a small generated record, asked from this machine."""

from __future__ import annotations

import time

import pytest
from starlette.testclient import TestClient

from laconic.config import Settings, load
from laconic.dashboard.app import make_standalone_application
from laconic.serving.hosts import AllowedHosts
from laconic_benchmarks.recorded import fill

TOKEN = "sesame-of-this-user"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A cache folder that tests only read."""
    folder = tmp_path_factory.mktemp("recorded")
    own = {"cache_dir": str(folder / "cache"), "state_dir": str(folder / "state")}
    settings = load(flags=own, environ={}, file=folder / "none.toml")
    fill(settings, 12, time.time(), calls=400)
    return settings


def stranger(settings: Settings, host: str = "127.0.0.1:8000", token: str = TOKEN) -> TestClient:
    """A browser that nobody let in yet."""
    app = make_standalone_application(settings, token, AllowedHosts())
    return TestClient(app, base_url=f"http://{host}", client=("127.0.0.1", 5000), follow_redirects=False)


def client(settings: Settings) -> TestClient:
    """Somebody who has the token."""
    opened = stranger(settings)
    opened.headers["x-laconic-token"] = TOKEN
    return opened


@pytest.fixture
def pages(recorded: Settings) -> TestClient:
    return client(recorded)
