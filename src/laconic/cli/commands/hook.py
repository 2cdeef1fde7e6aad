"""Answer the hooks that `laconic setup claude` and `laconic setup claude --hook` register in Claude Code.

With --client, wait until Laconic's server of that client has listed its tools, so that the first prompt has them: ten
seconds at most, and not at all if the client started no such server. Otherwise, shorten what the client's shell printed:
read the event on standard input and print the shorter output; `laconic recall` returns all of it. If anything fails, it
prints nothing, and Claude Code goes on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from laconic.config import Settings

_LONGEST = 2_000_000  # characters; a client cuts off long before


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--client", type=int, metavar="PID", help="wait for the tools of this process's server")


def run(args: argparse.Namespace, settings: Settings) -> int:
    if args.client is not None:
        from laconic.clients.tools_wait import wait_for_tools  # alone, because a client waits for it to load

        wait_for_tools(args.client, settings.state_dir())
        return 0
    return _shorten_output(settings)


def _shorten_output(settings: Settings) -> int:
    from laconic.clients.claude_hook import answer_hook
    from laconic.errors import LaconicError
    from laconic.reduce.text import reduce_text
    from laconic.sessions.archive import Archive
    from laconic.tokens.count import counter
    from laconic.workspace.git import home

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
