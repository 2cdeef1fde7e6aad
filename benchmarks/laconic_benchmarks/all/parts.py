"""The parts of the whole report: how each is called, and its result, kept from run to run."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from laconic import __version__
from laconic.config import child_environment
from laconic_benchmarks.report import Bar, Options, Report

_PATIENCE: Final = 3 * 3600.0  # seconds for one part
SAMPLE: Final = "sample"
_SAID: Final = 300  # characters of a complaint that are kept


@dataclass(frozen=True, slots=True)
class Part:
    """A benchmark, with the words and the sample that make it quick."""

    name: str
    words: tuple[str, ...] = ()  # for the quick form
    tasks: int = 0  # for the quick form
    against: str = ""  # what it is compared with inside the part

    @property
    def samples(self) -> bool:
        """Whether its quick form is measured on less, so that its bars say little."""
        return bool(self.words or self.tasks)


PARTS: Final = (
    Part("tokens", against="tiktoken"),
    Part("outputs"),
    Part("hits", against="verbose JSON"),
    Part("fit", against="sorting"),
    Part("bodies"),
    Part("startup"),
    Part("ready", against="the bare MCP SDK"),
    Part("fixed", against="installed peers"),
    Part("around", ("schemas", "time"), against="the servers themselves"),
    Part("index", ("build", "query"), against="ripgrep"),
    Part("worktrees", tasks=1),
    Part("refs"),
    Part("references", against="language servers"),
    Part("search", against="ranks of other engines in the data"),
    Part("questions"),
    Part("peers", against="ripgrep, sed and installed peers"),
    Part("localisation", ("psf+requests",)),
    Part("turns", tasks=12, against="ripgrep with sed, grep with cat"),
    Part("edits"),
    Part("powercut", ("5",)),
    Part("diff"),
    Part("reports"),
    Part("affected", ("psf+requests",)),
    Part("laws", ("300",)),
    Part("continuations", ("100",)),
    Part("compaction"),
    Part("joined", tasks=2, against="gateway and code plane apart"),
    Part("replay", ("openhands/",)),
    Part("provider", against="the provider's own figures"),
    Part("why"),
    Part("repair"),
    Part("bill", against="the same clients without the gateway"),
    Part("engine", against="bare parse and emit"),
    Part("gateway", against="no gateway"),
    Part("memory"),
    Part("load", ("10", "8")),
    Part("stalls", ("2", "8", "8")),
    Part("fuzz", ("500",)),
    Part("attack", against="an undisturbed twin"),
    Part("clients", ("5",)),
    Part("team", ("replicas",)),
    Part("dashboard"),
)


class Outcome(msgspec.Struct, frozen=True):
    """What came of a part."""

    name: str
    state: str  # "ok", "bars missed", "sample" whatever its bars say, or "no result"
    seconds: float
    reason: str = ""
    report: Report | None = None
    quick: bool = False
    version: str = __version__

    @property
    def bars(self) -> tuple[Bar, ...]:
        return self.report.bars if self.report else ()


def measured(part: Part, folder: Path, options: Options) -> Outcome:
    """The kept result of a part, or a new one, which is kept when there is one."""
    file = folder / f"{part.name}.json"
    kept = _kept(file)
    if kept is not None and not options.fresh and (kept.quick, kept.version) == (options.quick, __version__):
        return kept
    outcome = _run(part, options)
    if outcome.report is not None:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(outcome))
    return outcome


def _kept(file: Path) -> Outcome | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Outcome)
    except (OSError, msgspec.MsgspecError):
        return None


def _run(part: Part, options: Options) -> Outcome:
    words = [sys.executable, "-m", "laconic", "bench", part.name, *(part.words if options.quick else ())]
    words += ["--json", "--data", options.data]
    words += ["--tasks", str(part.tasks)] if options.quick and part.tasks else []
    words += ["--quick"] if options.quick else []
    folders = {"LACONIC_BENCH_MIRROR": options.mirror, "LACONIC_CACHE_DIR": str(Path(options.cache).parent)}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            words, env=child_environment(folders), capture_output=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(part.name, "no result", _PATIENCE, "took too long", quick=options.quick)
    seconds = time.perf_counter() - started
    try:
        report = msgspec.json.decode(done.stdout, type=Report)
    except msgspec.MsgspecError:
        said = done.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][-_SAID:]
        return Outcome(part.name, "no result", seconds, said or f"exit code {done.returncode}", quick=options.quick)
    state = "ok" if all(bar.holds for bar in report.bars) else "bars missed"
    if options.quick and part.samples:
        state = SAMPLE
    return Outcome(part.name, state, seconds, report=report, quick=options.quick)
