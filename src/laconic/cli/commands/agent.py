"""Let a model work in this folder: it searches, edits and runs commands until the task is done.

Commands run in a sandbox if the system has one; the first line says which, or that there is none. The agent asks before
it runs a command, unless you pass --yes or `agent.allow` names the command. Without a terminal, the command is refused.
The answer goes to standard output, everything else to standard error. Exit codes: 0 done, 2 wrong usage, 3 a limit was
reached, 4 the model or its provider failed, 130 interrupted. `--resume` continues a session after any of them.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.cli.numbers import positive
from laconic.config import Settings
from laconic.errors import ConversationError, LaconicError, LimitReached, ModelError, UpstreamError, UsageError
from laconic.render.plural import count_of

if TYPE_CHECKING:
    from laconic.agent.agent_from_settings import AgentOptions
    from laconic.agent.loop import Agent
    from laconic.cli.agent_view import TerminalView

_LIMIT, _MODEL, _INTERRUPTED = 3, 4, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", default="", help="what to do; `-` reads it from standard input")
    parser.add_argument("-p", "--print", action="store_true", help="print only the answer, for scripts")
    parser.add_argument(
        "--model", help="PROVIDER/NAME (anthropic, openai, gemini, or a named upstream), scripted:FILE"
    )
    parser.add_argument("--base-url", default="", metavar="URL", help="address of the server that serves the model")
    parser.add_argument(
        "--format",
        default="",
        choices=("", "chat", "anthropic", "gemini"),
        metavar="FORMAT",
        help="format that the server understands: chat, anthropic or gemini",
    )
    parser.add_argument("--protocol", choices=("auto", "native", "prompted"), help="how the model calls tools")
    parser.add_argument(
        "--window",
        type=positive,
        metavar="TOKENS",
        help="context window of the model, in tokens (default: by its name)",
    )
    parser.add_argument(
        "--yes", action="store_true", help="run commands without asking, except those that agent.deny refuses"
    )
    parser.add_argument("--max-turns", type=positive, metavar="N", help="stop after N messages from the model")
    parser.add_argument("--max-tokens", type=positive, metavar="N", help="stop after N tokens, sent and received")
    parser.add_argument("--max-cost", type=float, metavar="DOLLARS", help="stop when the session has cost this much")
    parser.add_argument(
        "--resume", default="", metavar="ID", help="resume a session; `last` is the newest one in this folder"
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the folder to work in (default: this one)")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from rich.console import Console  # the agent and all it needs: not for `--help`

    from laconic.agent.agent_from_settings import assemble
    from laconic.cli.agent_view import TerminalView

    task = sys.stdin.read() if args.task == "-" else args.task
    if not task.strip() and not args.resume:
        raise UsageError("No task was given.", 'Write: laconic agent "what to do".')
    if args.print:
        view = None
    else:
        view = TerminalView(Console(file=sys.stderr))
    agent = assemble(_options(args, settings, view), settings, task, view)
    signal.signal(signal.SIGTERM, _interrupt)
    if view is not None:
        view.note(agent.tools.runner.describe())
    try:
        if agent.record.ended == "done" and not task:
            raise UsageError(f"The session {agent.record.id} is finished.", "Give it a new task to continue.")
        return _work(agent, task, view)
    finally:
        agent.close()


def _options(args: argparse.Namespace, settings: Settings, view: TerminalView | None) -> AgentOptions:
    from laconic.agent.agent_from_settings import AgentOptions  # heavy, as above
    from laconic.agent.permission import everything
    from laconic.agent.run_limits import RunLimits

    if view is not None and sys.stdin.isatty() and sys.stderr.isatty():
        asking = view.ask
    else:
        asking = None
    return AgentOptions(
        root=args.root,
        model=args.model or settings.text("agent.model"),
        base=args.base_url,
        format=args.format,
        protocol=args.protocol or settings.text("agent.protocol"),
        window=settings.number("agent.window") if args.window is None else args.window,
        limits=RunLimits(
            settings.number("agent.max_turns") if args.max_turns is None else args.max_turns,
            settings.number("agent.max_tokens") if args.max_tokens is None else args.max_tokens,
            settings.ratio("agent.max_cost") if args.max_cost is None else args.max_cost,
        ),
        ask=everything if args.yes else asking,
        resume=args.resume,
    )


def _work(agent: Agent, task: str, view: TerminalView | None) -> int:
    """Work, and say how it ended; a session that did not end well can be gone on with."""
    try:
        answer = agent.work(task)
    except LimitReached as error:
        return _report_stop(agent, "limit", error, _LIMIT)
    except (ModelError, UpstreamError, ConversationError) as error:
        return _report_stop(agent, "failed", error, _MODEL)
    except KeyboardInterrupt:
        return _report_stop(agent, "interrupted", LaconicError("Interrupted."), _INTERRUPTED)
    agent.record.end("done", **_sums(agent))
    if view is not None:
        view.note(_figures(agent))
    if view is None or not (sys.stdout.isatty() and sys.stderr.isatty()):
        print(answer)  # on a terminal it was read as it came
    return 0


def _report_stop(agent: Agent, reason: str, error: LaconicError, code: int) -> int:
    agent.record.end(reason, problem=str(error), **_sums(agent))
    print(f"\nlaconic: {error} Go on with: laconic agent --resume {agent.record.id}", file=sys.stderr)
    return code


def _sums(agent: Agent) -> dict[str, object]:
    spent, model_settings = agent.recorder.spent, agent.client.settings
    malformed = {"provider": model_settings.provider, "model": model_settings.model, "reasons": dict(agent.malformed)}
    bill = spent.bill
    sums = {"turns": spent.turns, "prompt": bill.tokens, "output": bill.output, "dollars": round(bill.dollars, 6)}
    return {**sums, **({"malformed": malformed} if agent.malformed else {})}


def _figures(agent: Agent) -> str:
    from laconic.conversation.accounting import describe  # heavy, as above

    spent = agent.recorder.spent
    bad = sum(agent.malformed.values())
    said = f"{count_of(spent.turns, 'turn')}, {describe(spent.bill)}"
    return f"[{said}{f', {bad} malformed calls' if bad else ''}; session {agent.record.id}]"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
