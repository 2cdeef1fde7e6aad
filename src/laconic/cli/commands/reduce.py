"""Shorten a text. Use it as a filter: `pytest 2>&1 | laconic reduce`.

Recognises test runs, logs, traces, compiler and linter output, searches, listings, JSON, patches, tables, HTML.
"""

from __future__ import annotations

import argparse
import sys

import msgspec

from laconic.config import Settings
from laconic.reduce.text import fill_budget, reduce_text
from laconic.reduce.text.wanted_words import find_words
from laconic.tokens.count import counter


def add_budget(parser: argparse.ArgumentParser) -> None:
    """The flag of all commands that print a shorter view."""
    parser.add_argument(
        "--budget",
        type=int,
        metavar="TOKENS",
        help="maximum tokens of the result, not counting its last line; 0: depends on the content",
    )


def budget_of(args: argparse.Namespace, settings: Settings) -> int:
    """Tokens that a view may have; 0: by content."""
    return max(0, settings.number("reduce.budget") if args.budget is None else args.budget)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_budget(parser)
    parser.add_argument(
        "--about", metavar="QUESTION", help="fill the budget, first with what this question is about (needs a budget)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON: text, kind, tokens and lines before and after"
    )
    parser.add_argument("--model", help="model whose tokenizer counts the tokens")


def run(args: argparse.Namespace, settings: Settings) -> int:
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    cost = counter(args.model or settings.text("model"))
    budget = budget_of(args, settings)
    if args.about is not None and budget:
        view = fill_budget(text, cost=cost, budget=budget, words=find_words(args.about))
    else:
        view = reduce_text(text, cost=cost, budget=budget)
    if not args.json:
        print(view.text, end="" if view.text.endswith("\n") or not view.text else "\n")
        return 0
    facts = {
        "kind": view.kind,
        "lossless": view.lossless,
        "lines": [view.kept_lines, view.total_lines],
        "tokens": [cost(view.text), cost(text)],
        "tokenizer": cost.name,
        "text": view.text,
    }
    print(msgspec.json.encode(facts).decode())
    return 0
