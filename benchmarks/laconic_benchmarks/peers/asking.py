"""The same questions to every server that is installed, and to a shell: right or not, tokens, calls, time to build."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from laconic.errors import CommandFailed
from laconic.render.table import Cell
from laconic.tokens.count import Counter, counter
from laconic_benchmarks.corpus import DJANGO, sdist, snapshot
from laconic_benchmarks.peers.environments import Peer, installed
from laconic_benchmarks.peers.servers import SERVERS, Opened, laconic_server, shell
from laconic_benchmarks.questions import OPENHANDS
from laconic_benchmarks.report import Options

_OURS: Final = "laconic"


def asked(options: Options, peers: Sequence[Peer], notes: list[str]) -> list[dict[str, Cell]]:
    """Everybody gets a copy of each code base and a home folder of its own, so that nothing is warm or left behind."""
    cache, count = Path(options.cache), counter()
    questions = json.loads((Path(options.data) / "questions" / "questions.json").read_text("utf-8"))["questions"]
    roots = {"django": sdist(DJANGO, cache), "openhands": snapshot(*OPENHANDS, Path(options.mirror), cache)}
    openers: dict[str, Callable[[Path, Path], Opened]] = {_OURS: laconic_server, "shell (rg, sed)": shell}
    for each in peers:
        if each.package in SERVERS and (number := installed(cache, each)):
            openers[f"{each.package} {number}"] = SERVERS[each.package](cache, each)
    rows: list[dict[str, Cell]] = []
    for name, opener in openers.items():
        options.progress(f"peers: {name}")
        try:
            rows.append({"measure": "ten questions", "by": name, **_answers(opener, questions, roots, count)})
        except CommandFailed as error:
            notes.append(f"{name}: {error}")
    return rows


def _answers(
    opener: Callable[[Path, Path], Opened],
    questions: Sequence[dict[str, Any]],
    roots: dict[str, Path],
    count: Counter,
) -> dict[str, Cell]:
    right = tokens = calls = 0
    built = answering = 0.0
    wrong: list[str] = []
    for corpus, root in roots.items():
        with _copied(root) as (code, home):
            started = time.perf_counter()
            opened = opener(code, home)
            built += time.perf_counter() - started
            try:
                for question in (each for each in questions if each["corpus"] == corpus):
                    started = time.perf_counter()
                    texts = opened.answer(question["op"], question["args"])
                    answering += time.perf_counter() - started
                    tokens += sum(count(text) for text in texts)
                    calls += len(texts)
                    if _is_right("\n".join(texts), question["must_contain"]):
                        right += 1
                    else:
                        wrong.append(str(question["id"]))
            finally:
                opened.close()
    return {
        **{"right": right, "tokens": tokens, "calls": calls, "build s": built, "answers s": answering},
        **{"wrong": " ".join(wrong) or "none"},
    }


@contextmanager
def _copied(root: Path) -> Iterator[tuple[Path, Path]]:
    """A copy of a code base and an empty home folder."""
    with tempfile.TemporaryDirectory(prefix="laconic-peers-", ignore_cleanup_errors=True) as scratch:
        code, home = Path(scratch) / root.name, Path(scratch) / "home"
        shutil.copytree(root, code, symlinks=True)
        home.mkdir()
        yield code, home


def _is_right(text: str, wanted: Sequence[str]) -> bool:
    return all(any(part in text for part in want.split("|")) for want in wanted)
