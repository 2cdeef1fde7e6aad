"""Shorten what Claude Code's own shell prints: the hook that `laconic setup claude --hook` registers.

Reads the event on standard input and prints the shorter output; `laconic recall` returns all of it. If anything fails,
it prints nothing, and Claude Code uses the output as it is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from laconic.clients.claude_hook import answer_hook
from laconic.config import Settings
from laconic.errors import LaconicError
from laconic.reduce.text import reduce_text
from laconic.sessions.archive import Archive
from laconic.tokens.count import counter
from laconic.workspace.git import home

_LONGEST = 2_000_000  # characters; a client cuts off long before


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(args: argparse.Namespace, settings: Settings) -> int:
    def shorten(printed: str, command: str) -> str:
        cost = counter(settings.text("model"))
        if len(printed) > _LONGEST or cost(printed) <= settings.number("around.whole"):
            return printed
        ref = Archive.of(settings).put(str(home(Path())), "shell", printed.encode("utf-8", "replace"), command[:200])
        view = reduce_text(printed, cost=cost, more=f"whole: laconic recall {ref}")
        return view.text

    try:
        answer = answer_hook(sys.stdin.buffer.read(), shorten)
    except (LaconicError, OSError):
        return 0
    if answer:
        print(answer)
    return 0
