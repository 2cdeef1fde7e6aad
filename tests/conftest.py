"""Fixtures that all tests share: settings that touch no file of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from laconic.config import Settings, load
from laconic.sessions.store import SharedStore, StorePlace
from laconic_benchmarks.postgres_server import NoPostgres, PostgresServer

Places = Callable[[str], StorePlace]
# A busy machine is no reason to fail: laws are about values, not about time.
hypothesis_settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("laws")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    own = {"cache_dir": str(tmp_path / "cache"), "state_dir": str(tmp_path / "state")}
    return load(flags=own, environ={}, file=tmp_path / "none.toml")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server for all tests of this process; without PostgreSQL they are skipped and say so."""
    try:
        server = PostgresServer().__enter__()
    except NoPostgres as error:
        pytest.skip(f"no PostgreSQL: {error}")
    yield server
    server.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Where a store of a name is kept, once in files and once in a database."""
    if request.param == "sqlite":
        return lambda name: tmp_path / f"{name}.sqlite"
    url = request.getfixturevalue("database_url")
    return lambda name: SharedStore(url, name)


@pytest.fixture
def database_url(postgres_server: PostgresServer) -> str:
    """The address of an empty database."""
    return postgres_server.new_database()
