"""Recorded sessions whose reads go through our tools: what repeated reads cost with the gateway and the code plane
joined, apart, and each alone.

Apart, the code plane points to what it sent on its connection, whatever has become of it. Joined, it sends the lines, and
the gateway points to those that the conversation still has.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from laconic.config import load
from laconic.render.table import Cell
from laconic.sessions.transcripts import Transcript
from laconic.tokens.count import counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools
from laconic_benchmarks.joined.measuring import ReadFigures, measure
from laconic_benchmarks.joined.translation import recorded_sessions, translate
from laconic_benchmarks.replay_parts import PARTS, part_of
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, sampled, versions

_QUICK: Final = 6  # sessions
_WAYS: Final = {  # whether the code plane points to what it sent before, and whether there is a gateway
    "lines sent whole, no gateway": (False, False),
    "code plane alone": (True, False),
    "apart": (True, True),
    "joined": (False, True),
}


def run(options: Options) -> Report:
    """`laconic bench joined [tune|choose|report]`: one part of the sessions."""
    count = counter("o200k_base")
    sessions = _find_sessions(options)
    figures = {way: ReadFigures() for way in _WAYS}
    for number, contexts in enumerate(sessions):
        options.progress(f"{number} of {len(sessions)} sessions replayed, now {contexts[0].name}")
        for way, (remembers, gateway) in _WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder) / "files"
                root.mkdir()
                runtime = ToolRuntime(root, load(flags={"cache_dir": f"{folder}/cache"}), tools())
                translated = translate(contexts, runtime, Session(remembers=remembers))
                runtime.close()
            measure(translated, count, figures[way], gateway=gateway)
    return Report(
        name="joined",
        corpus=f"{len(sessions)} recorded sessions of Claude Code, their reads made by our `read`",
        tokenizer=count.name,
        rows=tuple(_row(way, found) for way, found in figures.items()),
        bars=_bars(figures),
        notes=(
            "a repeated read: more than half of its lines were sent before in its session, also before a compaction",
            "held: lines of such reads that the request still has; sent for them: these lines and what points to them",
            "nowhere else: tokens of lines that no other text of the request has, so that they must be sent",
            "wrong: answers that point to lines which the request does not have; they are asked for once more",
        ),
        versions=versions("splintr-rs", "msgspec"),
    )


def _find_sessions(options: Options) -> list[tuple[Transcript, ...]]:
    parts = [word for word in options.args if word in PARTS] or PARTS
    found = []
    for contexts in recorded_sessions(Path(options.data)):
        if part_of(contexts[0]) in parts:
            found.append(contexts)
    return sampled(found, _QUICK if options.quick else options.tasks)


def _row(way: str, found: ReadFigures) -> dict[str, Cell]:
    return {
        "way": way,
        "reads": found.reads,
        "repeated": found.repeated,
        "tokens": found.tokens,
        "wrong": found.wrong,
        "asked again": found.asked_again,
        "held": found.held,
        "sent for held": found.held_sent,
        "nowhere else": found.absent,
        "needed lines": found.kept / max(1, found.needed),
        "requests": found.passed,
        "net": round(found.net),
    }


def _bars(figures: dict[str, ReadFigures]) -> tuple[Bar, ...]:
    apart, joined = figures["apart"], figures["joined"]
    repeated = (joined.tokens + joined.asked_again) / max(1, apart.tokens + apart.asked_again)
    return (
        at_most("tokens of repeated reads joined, of those apart", repeated, 0.3),
        at_most("tokens sent for lines that the request has, of those lines", joined.held_sent / joined.held, 0.3),
        at_most("answers that point to lines which are not there", joined.wrong, 0),
        at_least("needed lines kept", joined.kept / max(1, joined.needed), apart.kept / max(1, apart.needed)),
    )
