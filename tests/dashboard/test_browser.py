"""The dashboard in a real browser: every page in light, dark and on a phone; clicks; figures that change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.flows.stage import installed

from laconic.config import Settings
from laconic.records import AddedContent
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic_benchmarks.recorded import fill

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TITLE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SCRIPT = Path(__file__).with_name("browser.cjs")


@contextmanager
def _dashboard(settings: Settings) -> Iterator[str]:
    config = settings.cache_dir() / "config.toml"
    config.write_text(f'cache_dir = "{settings.cache_dir()}"\nstate_dir = "{settings.state_dir()}"\n')
    words = [sys.executable, "-m", "laconic", "dashboard", "--config", str(config)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def _record(settings: Settings) -> None:
    """One more turn, of a session with a hostile name."""
    with closing(Turns(settings.cache_dir() / FILE)) as turns:
        cost = AnswerCost(10, 20, 30, 4, 90.0, 0.5, 1.5)
        turns.add(
            TurnRecord(
                TurnIdentity("hostile", model=TITLE),
                time.time(),
                200,
                cost=cost,
                added_content=AddedContent(1, 5, title=TITLE, anew=True, project="/home/me/shop"),
            )
        )


@pytest.mark.flow
def test_every_page_in_a_browser(settings: Settings, tmp_path: Path) -> None:
    """No complaint in the console, no request elsewhere, no page wider than its window, every figure as in JSON."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium: `apt-get install chromium` brings one")
    modules = installed("playwright-core").parent
    fill(settings, 40, time.time(), calls=500)
    _record(settings)
    flags = ["--disable-background-networking"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with _dashboard(settings) as base:
        words = ["node", str(SCRIPT), str(modules), browser, base, str(tmp_path), *flags]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as script:
            assert script.stdout is not None
            assert script.stdout.readline() == "watching\n"
            _record(settings)
            told = json.loads(script.stdout.readline())
    assert told["form"] == [401, 401, 303, "Overview"]
    assert told["entered"] == [True] * 4
    assert told["complaints"] == []
    assert told["away"] == []
    assert told["wide"] == []
    assert told["wrong"] == []
    assert told["figures"] > 3_000
    assert told["landed"].startswith("turn ")
    assert "def settle(order, rate):" in told["archived"]
    sorted_by = dict.fromkeys(("Tokens", "Money", "Output", "Turns"), True)
    assert told["listed"] == {"client": True, "project": 1, "words": 1, "sorted": sorted_by}
    assert told["live"][1] == told["live"][0] + 1
    assert told["stayed"]
    assert told["first"] == TITLE
    assert len(list(tmp_path.glob("*.png"))) == 18
