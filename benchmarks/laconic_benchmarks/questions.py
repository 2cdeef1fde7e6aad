"""Ten questions about two code bases, and the references of twelve symbols: right or not, and their tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from laconic.config import load
from laconic.render.table import Cell
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.corpus import DJANGO, sdist, snapshot
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

OPENHANDS: Final = ("All-Hands-AI/OpenHands", "156d0686c4")


def run(options: Options) -> Report:
    """Each question is one call with default settings; an answer is right when it holds every wanted string."""
    data, cache = Path(options.data), Path(options.cache)
    roots = {
        "django": sdist(DJANGO, cache),
        "openhands": snapshot(*OPENHANDS, Path(options.mirror), cache),
    }
    planes = {name: _plane(root, cache) for name, root in roots.items()}
    rows: list[dict[str, Cell]] = []
    for question in json.loads((data / "questions" / "questions.json").read_text("utf-8"))["questions"]:
        tool, arguments = _call(question)
        reply = planes[question["corpus"]].call(tool, arguments)
        right = all(any(part in reply.text for part in want.split("|")) for want in question["must_contain"])
        rows.append({"question": question["question"], "tool": tool, "right": right, "tokens": reply.tokens})
    questions = list(rows)
    found = 0.0
    for truth in json.loads((data / "refs" / "ground_truth.json").read_text("utf-8")):
        name = f"{truth['cls']}.{truth['name']}" if truth["cls"] else truth["name"]
        arguments = {"symbol": [f"{truth['file']}::{name}"], "only": ["refs", "tests"]}
        reply = planes[truth["corpus"]].call("inspect", arguments)
        named = {path for path, _ in truth["true"]}
        share = sum(path in reply.text for path in named) / max(1, len(named))
        found += share
        rows.append({"question": f"references of {name}", "tool": "inspect", "right": share, "tokens": reply.tokens})
    references = rows[len(questions) :]
    for runtime in planes.values():
        runtime.close()
    return Report(
        "questions",
        f"{DJANGO} sdist and {OPENHANDS[0]} at {OPENHANDS[1]}",
        "o200k_base",
        tuple(rows),
        (
            at_least("questions answered right", sum(bool(row["right"]) for row in questions), 10),
            at_most("tokens of the ten answers", _tokens(questions), 5_000),
            at_most("tokens of the references of twelve symbols", _tokens(references), 6_000),
            at_least("files with true references that are named", found / max(1, len(references)), 0.99),
        ),
        versions=versions("splintr-rs"),
    )


def _tokens(rows: list[dict[str, Cell]]) -> int:
    return sum(int(row["tokens"] or 0) for row in rows)


def _plane(root: Path, cache: Path) -> ToolRuntime:
    runtime = ToolRuntime(root, load(flags={"cache_dir": str(cache / "indexes")}), tools())
    runtime.index.build(seconds=600)
    return runtime


def _call(question: dict[str, Any]) -> tuple[str, dict[str, object]]:
    """The call that an agent would make."""
    args = question["args"]
    match question["op"]:
        case "symbol" | "text":
            return "search", {"query": args[0]}
        case "regex":
            return "search", {"query": f"/{args[0]}/"}
        case "outline":
            return "map", {"path": args[0]}
        case "source":
            return "inspect", {"symbol": f"{args[0]}::{args[1]}", "only": "body"}
    return "inspect", {"symbol": f"{args[0]}::{args[1]}", "only": "refs"}
