"""A dashboard over a small generated record, asked from this machine."""

from __future__ import annotations

import time

import pytest
from starlette.testclient import TestClient

from laconic.bench.recorded import fill
from laconic.config import Settings, load
from laconic.dashboard.app import application


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A cache folder that tests only read."""
    folder = tmp_path_factory.mktemp("recorded")
    settings = load(flags={"cache_dir": str(folder / "cache")}, environ={}, file=folder / "none.toml")
    fill(settings, 12, time.time(), calls=400)
    return settings


def client(settings: Settings, token: str = "", peer: str = "127.0.0.1", host: str = "127.0.0.1:8000") -> TestClient:
    app = application(settings, token)
    return TestClient(app, base_url=f"http://{host}", client=(peer, 5000), follow_redirects=False)


@pytest.fixture
def pages(recorded: Settings) -> TestClient:
    return client(recorded)
