"""What the tests of the planner's process have done there: it must be able to import it."""

from __future__ import annotations

import os
import signal
import sys

from laconic.cli.commands.gateway import engine
from laconic.config import Settings
from laconic.errors import UsageError
from laconic.exchange.engine_adapter import PassThroughEngine
from laconic.gateway.planner import GatewayPolicy, Planner


def keeping(settings: Settings) -> Planner:
    return Planner(engine(settings), GatewayPolicy(), lambda: 0.0)


def unchanged() -> Planner:
    return Planner(PassThroughEngine(), GatewayPolicy(), lambda: 0.0)


def dying() -> Planner:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def process_id(planner: Planner) -> int:
    return os.getpid()


def refuse(planner: Planner) -> None:
    raise UsageError("This is wrong.", "Do that.")


def hang(planner: Planner) -> None:
    signal.pause()


def say(planner: Planner) -> str:
    sys.stdout.write("words that are no answer\n")
    sys.stdout.flush()
    return "answer"
