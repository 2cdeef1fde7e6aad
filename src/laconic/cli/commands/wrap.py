"""Run a coding agent, or any program, through the gateway and with Laconic's tools, leaving no configuration behind.

    laconic wrap claude -p "fix the parser"
    laconic wrap codex --off exec "fix the parser"
    laconic wrap opencode --code-plane run "fix the parser"
    laconic wrap -- python my_agent.py

Clients: aider, claude, codex, gemini, opencode. Put options before the client's name or directly after it; everything
else, and everything after --, belongs to the client. A later option of `wrap` is refused. Requests go only where the
client's own configuration sends them.
A client that answers one prompt and ends (claude -p, codex exec, opencode run) gets Laconic's tools only with
--code-plane, or if its arguments name them (mcp__laconic): a short run pays more for their schemas than it saves.
The gateway stops with the client. One line at the end says what the run cost, with and without Laconic.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from laconic.config import Settings, child_environment
from laconic.errors import Unroutable, UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from laconic.clients.wrapped_client import Launch, LaunchContext, WrappedClient

_FLAGS: Final = {
    "--code-plane": "offer Laconic's tools even to a client that answers one prompt and ends",
    "--no-code-plane": "do not offer Laconic's tools to the client",
    "--no-gateway": "offer Laconic's tools only: requests bypass the gateway, unchanged and uncounted",
    "--off": "pass requests on unchanged; the gateway still counts their cost, and the client still gets the tools",
}

_TOOLS: Final = "mcp__laconic"  # how words of a client name our tools
_NO_MODEL: Final = frozenset(  # first words of a client with which it asks no model
    {"--version", "-v", "-V", "version", "--help", "-h", "help", "login", "logout", "auth", "mcp"}
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for flag, help in _FLAGS.items():
        parser.add_argument(flag, action="store_true", help=help)
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="CLIENT ...", help="the client and its arguments")


def run(args: argparse.Namespace, settings: Settings) -> int:
    # Imported here: most commands never need an HTTP server.
    from laconic.clients.registry import find_client
    from laconic.clients.wrapped_client import LaunchContext

    name, flags, words = split_words(args.words)
    for flag in flags:
        setattr(args, flag.removeprefix("--").replace("-", "_"), True)
    client = find_client(name)
    seen = LaunchContext(Path.cwd(), child_environment(), tuple(words))
    asks_no_model = bool(name and words and words[0] in _NO_MODEL)
    code_plane: list[str] = []
    if not asks_no_model and _wants_tools(args, client, words):
        code_plane = _code_plane(behind_gateway=not args.no_gateway and not args.off)
    if args.no_gateway or asks_no_model:
        from laconic.gateway.wrapped_process import run_alone

        made = client.launch(seen, (), "", code_plane)
        with TemporaryDirectory(prefix="laconic-") as folder:
            return run_alone(_write_files(made, Path(folder)), {**seen.environment, **made.variables})
    return _run_through(client, seen, settings, code_plane, off=args.off)


def split_words(words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The client's name (empty for any program), our own flags behind it, and the words that are the client's."""
    if not words or words == ["--"]:
        raise UsageError("No client was given.", "Write `laconic wrap claude`, or `laconic wrap -- PROGRAM`.")
    if words[0] == "--":
        return "", [], list(words[1:])
    name, *rest = words
    flags: list[str] = []
    while rest and rest[0] in _FLAGS:
        flags.append(rest.pop(0))
    if rest and rest[0] == "--":
        return name, flags, rest[1:]
    for word in takewhile("--".__ne__, rest):
        if word in _FLAGS:
            raise UsageError(
                f"{word} comes after the arguments of {name}, which would not know it.",
                f"Write `laconic wrap {name} {word} ...`, or put -- before what {name} is to read.",
            )
    return name, flags, rest


def _wants_tools(args: argparse.Namespace, client: WrappedClient, words: Sequence[str]) -> bool:
    """Whether the client is offered our tools: by default where it stays for more than one prompt."""
    if args.code_plane or args.no_code_plane or args.no_gateway:
        return not args.no_code_plane
    is_one_shot = any(word in client.one_shot for word in words)
    return not is_one_shot or any(_TOOLS in word for word in words)


def _run_through(
    client: WrappedClient, seen: LaunchContext, settings: Settings, code_plane: Sequence[str], *, off: bool
) -> int:
    """The client beside a gateway that knows the client's own upstreams and no others."""
    from laconic.cli.commands.gateway import application
    from laconic.clients.wrapped_client import DefaultUpstreams
    from laconic.gateway.logs import LogFile
    from laconic.gateway.routes import Upstreams, base_url
    from laconic.gateway.wrapped_process import run_beside
    from laconic.outbound_proxies import OutboundProxies
    from laconic.serving.listen import bind, listen

    defaults = DefaultUpstreams(
        anthropic=base_url(settings.text("gateway.anthropic_url")),
        openai=base_url(settings.text("gateway.openai_url")),
        gemini=base_url(settings.text("gateway.gemini_url")),
    )
    try:
        upstreams = client.find_upstreams(seen, defaults)
        variables = client.connection_variables(seen)
        proxies = OutboundProxies.read(variables, client.proxy_rules)
        for one in upstreams:
            proxies.find(one.url)
    except Unroutable as error:
        program = client.launch(seen, (), "", []).words[0]
        around = f"Or run `{program}` without Laconic."
        if _takes_tools(client, seen):
            around = "To use Laconic's tools without the gateway, add --no-gateway."
        raise Unroutable(error.problem, f"{error.fix} {around}".strip()) from None
    where = listen("127.0.0.1:0", "", "", "", insecure=False)
    opened = bind(where)
    base = f"http://127.0.0.1:{opened.getsockname()[1]}"
    made = client.launch(seen, upstreams, base, code_plane)
    named = {one.name: one.origin for one in upstreams}
    certificates = tuple(variables[name] for name in client.certificates if variables.get(name))
    app = application(Upstreams(named=named, proxies=proxies, certificates=certificates), settings, off=off)
    with LogFile(settings.state_dir() / "wrap") as log, TemporaryDirectory(prefix="laconic-") as folder:
        words = _write_files(made, Path(folder))
        code = run_beside(app, where, opened, words, _environment(seen, made), log=log.file)
    problems = ""
    if log.path.exists():
        problems = f"; problems are in {log.path}"
    print(f"{_summary(app, client)}{problems}", file=sys.stderr)
    return code


def _takes_tools(client: WrappedClient, seen: LaunchContext) -> bool:
    """Whether the client can be given tools of ours."""
    return client.launch(seen, (), "", ["laconic", "mcp"]) != client.launch(seen, (), "", [])


def _write_files(made: Launch, folder: Path) -> list[str]:
    """Write the files of the run, for this user alone; returns the command line that names them."""
    from laconic.clients.wrapped_client import FOLDER

    for name, text in made.files.items():
        (folder / name).write_text(text.replace(FOLDER, str(folder)), "utf-8")
    found: list[str] = []
    for word in made.words:
        found.append(word.replace(FOLDER, str(folder)))
    return found


def _environment(seen: LaunchContext, made: Launch) -> dict[str, str]:
    """What the client is started with. Requests to this machine go through no proxy of the network.

    Its shell finds our program, also one that is in no folder of the user's path: what was left out names it.
    """
    from laconic.clients.wrapped_client import bypass_proxy

    around = {}
    path = seen.environment.get("PATH", "")
    if which("laconic", path=path) is None:
        around["PATH"] = os.pathsep.join(filter(None, (path, str(Path(sys.executable).parent))))
    return {**seen.environment, **around, **bypass_proxy(seen.environment), **made.variables}


def _summary(app: Starlette, client: WrappedClient) -> str:
    """One line on what the run cost, or on why nothing is known about it."""
    metrics = app.state.metrics
    if not metrics.total("laconic_requests_total") and not metrics.total("laconic_upstream_faults_total"):
        return f"laconic: no request went through the gateway: {client.silence}"
    return str(app.state.registry.summary())


def _code_plane(*, behind_gateway: bool) -> list[str]:
    """The command that serves our tools. A gateway that leaves things out knows what each conversation still has."""
    from laconic.cli.main import names  # not at the top: that module imports this one

    if "mcp" not in names():
        return []
    words = [sys.executable, "-P", "-m", "laconic", "mcp", "--root", str(Path.cwd())]
    if behind_gateway:
        words.append("--behind-gateway")
    return words
