"""What replicas of a gateway share beside the ledger, and how one of them ends."""

from __future__ import annotations

import signal

import pytest
from sse_starlette.sse import AppStatus
from starlette.testclient import TestClient

from laconic.cli.commands.gateway import application, with_store
from laconic.config import Settings
from laconic.errors import UsageError
from laconic.exchange.engine_adapter import PassThroughEngine
from laconic.gateway.planner import GatewayPolicy, Planner
from laconic.gateway.routes import Upstreams
from laconic.serving.listen import ListenAddress
from laconic.serving.readiness import Readiness
from laconic.serving.server import server_for
from laconic.sessions.shared_memory import SharedMemory
from laconic.sessions.store import SharedStore
from laconic_benchmarks.postgres_server import free_port


def test_a_session_that_is_switched_off_is_off_on_all_replicas(database_url: str) -> None:
    one, two = (_planner(SharedMemory(SharedStore(database_url, "memory"))) for _ in range(2))
    assert one.switch("s", {"x-laconic": "session-off"})
    assert two.switch("s", {})
    assert not two.switch("other", {})
    assert not two.switch("s", {"x-laconic": "on"})
    assert not _planner(SharedMemory(SharedStore(database_url, "memory"))).switch("s", {})


def _planner(memory: SharedMemory) -> Planner:
    return Planner(PassThroughEngine(), GatewayPolicy(), lambda: 0.0, memory)


def test_a_password_is_not_taken_from_the_command_line(settings: Settings) -> None:
    with pytest.raises(UsageError, match="every user"):
        with_store(settings, "postgresql://me:secret@db/laconic")
    assert with_store(settings, "postgresql://me@db/laconic").text("store") == "postgresql://me@db/laconic"
    assert with_store(settings, "") is settings


def test_a_gateway_without_its_database_is_ready_and_says_what_is_missing(settings: Settings) -> None:
    away = with_store(settings, f"postgresql://me@127.0.0.1:{free_port()}/none")
    app = application(Upstreams(anthropic="http://127.0.0.1:9"), away, off=False)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
        assert client.post("/v1/messages", json=body, headers={"x-api-key": "k"}).status_code == 502  # nobody there
        answer = client.get("/readyz")
    assert answer.status_code == 200
    assert "ledger" in answer.text


def test_a_server_that_is_told_to_end_says_so_first_and_goes_on_for_a_while(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AppStatus, "should_exit", False)  # a flag of the whole process: put back after the test
    readiness = Readiness(notice=60.0)
    app = application(Upstreams(), settings, off=False, readiness=readiness)
    server = server_for(app, ListenAddress("127.0.0.1", 0), readiness=readiness)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/readyz").status_code == 200
        server.handle_exit(signal.SIGTERM, None)
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
    assert not server.should_exit
    server.handle_exit(signal.SIGTERM, None)  # the second one means it
    assert server.should_exit
