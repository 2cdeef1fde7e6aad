"""Run claude, codex or opencode through the gateway and with the code plane, leaving no configuration behind.

    laconic wrap claude -- -p "mend the parser"

Everything ends with the client. One line at the end says what it cost, with and without us.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from laconic.config import Settings, child_environment
from laconic.gateway.clients import CHATGPT, CLIENTS, launch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=CLIENTS, help="the client to run")
    parser.add_argument("args", nargs="*", help="words for the client, after --")
    parser.add_argument("--no-code-plane", action="store_true", help="do not offer our tools to the client")
    parser.add_argument("--off", action="store_true", help="change nothing: only pass requests on")


def run(args: argparse.Namespace, settings: Settings) -> int:
    # Imported here: most commands never need an HTTP server.
    from laconic.cli.commands.gateway import application, known_upstreams
    from laconic.gateway.child import run_beside
    from laconic.serving.listen import bind, listen

    environment = child_environment()
    where = listen("127.0.0.1:0", "", "", "", insecure=False)
    opened = bind(where)
    base = f"http://127.0.0.1:{opened.getsockname()[1]}"
    known = known_upstreams(
        settings,
        anthropic=environment.get("ANTHROPIC_BASE_URL", ""),
        openai=environment.get("OPENAI_BASE_URL", ""),
        more={"chatgpt": CHATGPT},
    )
    app = application(known, settings, off=args.off)
    made = launch(args.client, base, _code_plane(args), args.args, environment)
    code = run_beside(app, where, opened, made.words, {**environment, **made.variables})
    print(app.state.roster.summary(), file=sys.stderr)
    return code


def _code_plane(args: argparse.Namespace) -> list[str]:
    from laconic.cli.main import names  # not at the top: that module imports this one

    if args.no_code_plane or "mcp" not in names():
        return []
    return [sys.executable, "-P", "-m", "laconic", "mcp", "--root", str(Path.cwd())]
