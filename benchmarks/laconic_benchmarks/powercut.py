"""Kill a process again and again while it edits many files at once, and look at what is left after the next start.

Every file names the generation it belongs to. A child moves all files from one generation to the next, without pause;
it is killed at a random moment, and the journal is opened as the next start would. Every file must be whole, and all
must be of one generation.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed
from laconic.render.table import Cell
from laconic.workspace.journal import FileWrite, Journal
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_ROUNDS: Final = 50
_FILES: Final = 12
_LONGEST: Final = 0.25  # seconds until the kill, at most
_PATIENCE: Final = 60.0  # seconds for a child to start
_READY: Final = "ready"  # a file that says so
_CHILD: Final = "import sys; from laconic_benchmarks.powercut import churn; churn(sys.argv[1], int(sys.argv[2]))"


def run(options: Options) -> Report:
    """Fifty rounds, or as many as the first word says."""
    rounds = int(options.args[0]) if options.args else _ROUNDS
    chance = random.Random(rounds)
    with tempfile.TemporaryDirectory() as folder:
        states = survey(Path(folder), rounds, chance)
    half = sum(not whole for whole, _, _ in states)
    mixed = sum(not together for _, together, _ in states)
    caught = sum(pending for _, _, pending in states)
    row: dict[str, Cell] = {
        "kills": rounds,
        "files": _FILES,
        "caught in the act": caught,
        "half": half,
        "mixed": mixed,
    }
    return Report(
        name="powercut",
        corpus=f"{_FILES} generated files of up to 60 kB",
        tokenizer="none",
        rows=(row,),
        bars=(
            at_most("rounds with a half-written file", half, 0),
            at_most("rounds with old and new together", mixed, 0),
            at_least("kills that caught an edit in the act", caught, rounds / 4),
        ),
        versions=versions(),
    )


def survey(folder: Path, rounds: int, chance: random.Random) -> list[tuple[bool, bool, bool]]:
    """Per round: whether all files were whole, whether all were of one generation, and whether work was pending."""
    tree, journal = folder / "tree", Journal(folder / "journal")
    names = _names(tree, _FILES)
    for index, name in enumerate(names):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(_content(0, index))
    return [_round(folder, names, journal, chance.uniform(0, _LONGEST)) for _ in range(rounds)]


def churn(folder: str, files: int) -> None:
    """The child: move all files to the next generation, for ever."""
    names = _names(Path(folder) / "tree", files)
    journal = Journal(Path(folder) / "journal")
    (Path(folder) / _READY).touch()
    while True:
        generation = _generation(names[0].read_bytes()) or 0
        writes = [
            FileWrite(name, name.read_bytes(), _content(generation + 1, index)) for index, name in enumerate(names)
        ]
        journal.apply(writes)


def _round(folder: Path, names: Sequence[Path], journal: Journal, delay: float) -> tuple[bool, bool, bool]:
    command = [sys.executable, "-c", _CHILD, str(folder), str(len(names))]
    with subprocess.Popen(command) as child:
        try:
            _await(child, folder / _READY)
            time.sleep(delay)
        finally:
            child.kill()
    pending = journal.recover()
    found = [_generation(name.read_bytes()) for name in names]
    strays = [path for path in (folder / "tree").rglob("*") if path.is_file() and path not in names]
    return None not in found and not strays, len(set(found)) == 1, pending


def _await(child: subprocess.Popen[bytes], sign: Path) -> None:
    """Wait until the child has begun, and take its sign away for the next round."""
    until = time.monotonic() + _PATIENCE
    while not sign.exists():
        if child.poll() is not None or time.monotonic() > until:
            raise CommandFailed("The process that is to be killed did not start.")
        time.sleep(0.001)
    sign.unlink()


def _names(tree: Path, files: int) -> list[Path]:
    return [tree / f"part{index % 3}" / f"file{index}.txt" for index in range(files)]


def _content(generation: int, index: int) -> bytes:
    size = random.Random(generation * 1000 + index).randrange(10, 1000)
    return f"generation {generation} line\n".encode() * size + b"end\n"


def _generation(content: bytes) -> int | None:
    """The generation of a whole file; None if it is torn."""
    lines = content.split(b"\n")
    if lines[-2:] != [b"end", b""] or len(set(lines[:-2])) != 1:
        return None
    return int(lines[0].split()[1])
