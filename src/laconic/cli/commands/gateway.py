"""Run the gateway: a proxy in front of model providers that keeps conversations small.

Point a client at it (ANTHROPIC_BASE_URL, OPENAI_BASE_URL with /v1, ...); keys stay the client's.
"""

from __future__ import annotations

import argparse
import logging
import sys

from laconic.config import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--listen", metavar="HOST:PORT", help="address to listen on")
    parser.add_argument("--anthropic-url", metavar="URL", help="where Anthropic's API is")
    parser.add_argument("--openai-url", metavar="URL", help="where OpenAI's API is, or a server that speaks it")
    parser.add_argument("--gemini-url", metavar="URL", help="where Gemini's API is")
    parser.add_argument("--certificate", default="", metavar="FILE", help="certificate for TLS")
    parser.add_argument("--key", default="", metavar="FILE", help="key of the certificate")
    parser.add_argument("--insecure", action="store_true", help="allow plain HTTP on an address that others reach")
    parser.add_argument("--off", action="store_true", help="change nothing: only pass requests on")


def run(args: argparse.Namespace, settings: Settings) -> int:
    # Imported here: most commands never need an HTTP server.
    from laconic.gateway.app import build
    from laconic.gateway.engine import Unchanged
    from laconic.gateway.plan import Policy
    from laconic.gateway.routes import upstreams
    from laconic.gateway.server import bind, listen, serve

    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    where = listen(
        args.listen or settings.text("gateway.listen"),
        settings.text("gateway.token"),
        args.certificate,
        args.key,
        insecure=args.insecure,
    )
    known = upstreams(
        args.anthropic_url or settings.text("gateway.anthropic_url"),
        args.openai_url or settings.text("gateway.openai_url"),
        args.gemini_url or settings.text("gateway.gemini_url"),
        settings.text("gateway.upstreams"),
    )
    policy = Policy(
        enabled=settings.flag("gateway.enabled") and not args.off,
        off_models=_patterns(settings, "gateway.off_models"),
        native_models=_patterns(settings, "gateway.native_models"),
        prompted_models=_patterns(settings, "gateway.prompted_models"),
        max_body=settings.number("gateway.max_body") * 2**20,
    )
    opened = bind(where)
    host, port = opened.getsockname()[:2]
    print(f"laconic gateway on http{'s' if where.certificate else ''}://{host}:{port}", flush=True)
    serve(build(known, Unchanged(), policy, where.token), where, opened)
    return 0


def _patterns(settings: Settings, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in settings.text(name).split(","))))
