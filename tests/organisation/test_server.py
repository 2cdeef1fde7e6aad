"""The whole of it, as processes: a worker, a server, and what each key sees."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from tests.organisation.git_sources import commit, make_source

from laconic.index.content_record import content_key
from laconic.index.packed_record import unpack_record
from laconic.sessions.team.remote_contents import RemoteContents
from laconic_benchmarks.postgres_server import NoPostgres
from laconic_benchmarks.team.forks import BenchRepository
from laconic_benchmarks.team.organisation_cluster import OrganisationClient, OrganisationCluster

CODE = "def charge(amount):\n    return amount\n"
CALLER = "from billing.money import charge\n\n\ndef pay():\n    return charge(3)\n"
PROJECT = '[project]\nname = "{}"\nversion = "1"\n'


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("sources")
    package = {"pyproject.toml": PROJECT.format("billing"), "billing/__init__.py": "", "billing/money.py": CODE}
    shop = {"pyproject.toml": PROJECT.format("shop"), "shop/__init__.py": "", "shop/pay.py": CALLER}
    secret = "def charge_in_secret():\n    return 1\n"
    return {
        "acme/billing": make_source(place / "billing", package),
        "acme/shop": make_source(place / "shop", shop),
        "eve/billing": make_source(place / "fork", {**package, "billing/secret.py": secret}),
    }


@pytest.fixture(scope="module")
def cluster(sources: dict[str, Path]) -> Iterator[OrganisationCluster]:
    try:
        entered = OrganisationCluster(workers=1).__enter__()
    except NoPostgres as error:
        pytest.skip(f"no PostgreSQL: {error}")
    try:
        listed = [BenchRepository(name, path, "") for name, path in sources.items()]
        entered.register(listed)
        entered.start_server()
        entered.start_workers()
        known = entered.wait_until_indexed(120)
        assert all(each.published for each in known), (entered.folder / "errors.log").read_text("utf-8")
        yield entered
    finally:
        entered.__exit__()


def _ask(cluster: OrganisationCluster, key: str, tool: str, **arguments: object) -> str:
    async def work() -> str:
        async with aiohttp.ClientSession() as client:
            asking = OrganisationClient(client, cluster.base, key)
            await asking.wait_until_ready()
            answer, until = await asking.ask(tool, **arguments), time.monotonic() + 10
            while "may read no repository" in answer and time.monotonic() < until:  # grants are a second old at most
                answer = await asking.ask(tool, **arguments)
            return answer

    return asyncio.run(work())


def test_a_key_sees_what_grants_name(cluster: OrganisationCluster) -> None:
    alice = cluster.make_key("alice", "acme/*")
    answer = _ask(cluster, alice, "inspect", symbols=["charge"])
    assert "@acme+billing/billing/money.py" in answer
    assert "@acme+shop/shop/pay.py" in answer  # who calls it, anywhere
    assert "eve" not in answer
    assert "secret" not in _ask(cluster, alice, "search", query="charge_in_sec")
    assert "No file" in _ask(cluster, alice, "read", targets=["@eve+billing/billing/secret.py"])
    assert "def charge(" in _ask(cluster, alice, "read", targets=["@acme+billing/billing/money.py"])
    for name in ("eve/billing", ".", "..", "/", "~"):
        assert "No repository" in _ask(cluster, alice, "map", workspace=name)
    assert "acme+billing" in _ask(cluster, alice, "map", workspace="billing")
    everything = cluster.make_key("root", "*")
    for question in ("charge_in_secret", "charge something in secret"):
        assert "@eve+billing/billing/secret.py" in _ask(cluster, everything, "search", query=question)


def test_a_grant_that_is_taken_back_ends(cluster: OrganisationCluster) -> None:
    carol = cluster.make_key("carol", "acme/shop")
    assert "def pay" in _ask(cluster, carol, "search", query="pay")
    cluster.repositories.withdraw("owner carol", "acme/shop", "t")
    time.sleep(1.1)
    assert "may read no repository" in _ask(cluster, carol, "search", query="pay")


def test_without_a_key_nothing_is_answered(cluster: OrganisationCluster) -> None:
    cluster.make_key("dora", "*")
    for key in ("", "lac-0000000000-" + "0" * 48, "x"):
        assert "not known to the team" in _ask(cluster, key, "search", query="charge")


def test_there_is_no_stream_to_hold_open(cluster: OrganisationCluster) -> None:
    key = cluster.make_key("henry", "*")

    async def work() -> int:
        headers = {"authorization": f"Bearer {key}", "accept": "text/event-stream"}
        async with aiohttp.ClientSession() as client, client.get(cluster.base + "/mcp", headers=headers) as answer:
            return answer.status

    assert asyncio.run(work()) == 405


def test_contents_for_whoever_has_the_bytes(cluster: OrganisationCluster) -> None:
    remote = RemoteContents(cluster.base, cluster.make_key("frank"))
    wanted = content_key("other/place.py", CODE.encode())
    found = remote.find([wanted, b"0" * 16])
    assert set(found) == {wanted}
    assert [each.name for each in unpack_record(found[wanted]).definitions] == ["charge"]
    assert RemoteContents(cluster.base, "lac-x").find([wanted]) == {}


def test_a_push_is_followed(cluster: OrganisationCluster, sources: dict[str, Path]) -> None:
    key = cluster.make_key("gina", "acme/shop")
    commit(sources["acme/shop"], {"shop/refund.py": "def refund_all():\n    pass\n"})
    repository = BenchRepository("acme/shop", sources["acme/shop"], "")

    async def work() -> tuple[int, int, str]:
        async with aiohttp.ClientSession() as client:
            asking = OrganisationClient(client, cluster.base, key)
            refused = await asking.report_push(repository, secret="another")
            taken = await asking.report_push(repository)
            answer, until = "", time.monotonic() + 60
            while "def refund_all" not in answer and time.monotonic() < until:
                answer = await asking.ask("search", query="refund_all")
            return refused, taken, answer

    refused, taken, answer = asyncio.run(work())
    assert (refused, taken) == (401, 202)
    assert "@acme+shop/shop/refund.py" in answer
