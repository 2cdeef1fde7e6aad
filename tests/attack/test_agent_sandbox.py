"""Nothing that a command of the agent does in the sandbox has an effect outside of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.attack.sandbox_calls import CALLS
from tests.attack.sandbox_forms import CLASSES as COMMANDS
from tests.attack.sandbox_stage import Stage, set_up

from laconic.agent.agent_from_settings import command_runner
from laconic.agent.permission import everything
from laconic.agent.run_tool import CommandRunner
from laconic.config import load

CLASSES = {**COMMANDS, **CALLS}
_TOKENS = ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "NPM_CONFIG__AUTH", "LOCAL_API_KEY")
_SEEN_AFTER = 2.0  # seconds in which another process stops that is told to


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ExitStack() as stack:
        stage = set_up(tmp_path, stack)
        for name in tuple(os.environ):
            if name.startswith(("LACONIC_", "XDG_", "PYENV_")):
                monkeypatch.delenv(name)
        for name in _TOKENS:
            monkeypatch.setenv(name, stage.secret)
        monkeypatch.setenv("HOME", str(stage.home))
        monkeypatch.setenv("SSH_AUTH_SOCK", str(stage.shared.getsockname()))
        monkeypatch.setenv("PATH", f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        yield stage


def _in_bubblewrap(stage: Stage) -> CommandRunner:
    settings = load(environ={}, file=stage.home / "none.toml")
    runner = command_runner(stage.project, settings, everything)
    if runner.sandbox.name != "bubblewrap":
        pytest.skip(f"bubblewrap is not in force: {runner.describe()}")
    return runner


@pytest.mark.parametrize("name", CLASSES)
def test_no_form_has_an_effect_outside_the_sandbox(stage: Stage, name: str) -> None:
    """Nobody is asked and no list is looked at: the sandbox alone has to hold."""
    runner = _in_bubblewrap(stage)
    found = []
    for form in CLASSES[name](stage):
        seconds = 2.0 if name == "background" else 10.0
        ended = runner.sandbox.run(form, stage.project, seconds=seconds, environment=runner.environment)
        found += [(form, effect) for effect in stage.effects(ended.output)]
        stage.clear()
    assert found == []


@pytest.mark.parametrize("name", CLASSES)
def test_the_first_form_of_each_class_has_one_without_a_sandbox(stage: Stage, name: str) -> None:
    """Otherwise the test above could not fail."""
    if name == "kernel" and os.geteuid() != 0:
        pytest.skip("only root writes settings of the kernel")
    assert _effects_without_sandbox(stage, CLASSES[name](stage)[0]) != []


def test_there_are_enough_forms(stage: Stage) -> None:
    forms = [form for make in CLASSES.values() for form in make(stage)]
    assert len(set(forms)) >= 600


def _effects_without_sandbox(stage: Stage, form: str) -> list[str]:
    done = subprocess.run(
        ["/bin/sh", "-c", form],
        cwd=stage.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20,
        check=False,
    )
    until = time.monotonic() + _SEEN_AFTER
    while not (found := stage.effects(done.stdout)) and time.monotonic() < until:
        time.sleep(0.01)
    return found
