"""Real clients whose conversations are never changed: both figures of the bill are what the provider billed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from laconic.config import load
from laconic.sessions.spending import Spending
from laconic.sessions.turn_tables import FILE
from laconic_benchmarks.bill.clients import CLIENTS, PROMPT, BilledClient, install_client
from laconic_benchmarks.bill.runs import RunResult, run_client
from laconic_benchmarks.bill.scenarios import Scenario

pytestmark = pytest.mark.flow

TINY = Scenario("tiny", ("A file of one line.\n",), prompts=2)  # so little that nothing in it repeats
HOURS = 7_200.0  # longer than any cache lives


def _play(client: BilledClient, home: Path, *flags: str, pause: float) -> RunResult:
    path = install_client(client, load().cache_dir() / "clients")
    return asyncio.run(run_client(client, TINY, path, home, wrapped=True, flags=flags, pause=pause))


@pytest.mark.feature("X3")
@pytest.mark.parametrize("pause", [0.0, HOURS], ids=["warm", "cold"])
@pytest.mark.parametrize("flags", [(), ("--off",)], ids=["on", "off"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_nothing_was_changed_and_the_bill_is_the_providers_on_both_sides(
    client: BilledClient, flags: tuple[str, ...], pause: float, tmp_path: Path
) -> None:
    """The first prompt and the one that goes on with the session."""
    run = _play(client, tmp_path, *flags, pause=pause)
    assert run.requests >= len(TINY.files) + TINY.prompts
    assert run.total("whole") == run.total("prompt") == run.tokens
    assert run.total("dollars_whole") == run.total("dollars") == pytest.approx(run.dollars, abs=1e-9)


@pytest.mark.parametrize("flags", [(), ("--off",)], ids=["on", "off"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_session_is_listed_under_what_the_user_wrote_and_where(
    client: BilledClient, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """On and off: also a session that was only counted is looked for by its title and its folder."""
    _play(client, tmp_path, *flags, pause=0.0)
    with closing(Spending(tmp_path / "cache" / FILE)) as record:
        listed = record.sessions()
    assert {row.title for row in listed} == {PROMPT}
    assert {row.project for row in listed} == {str(tmp_path / "project")}
