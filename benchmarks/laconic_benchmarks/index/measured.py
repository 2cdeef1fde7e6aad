"""What the parts of the benchmark share: where they work, what they hand back, and children with their memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.render.table import Cell
from laconic_benchmarks.report import Bar


@dataclass(frozen=True, slots=True)
class Place:
    """A copy of the corpus under git, a folder for everything else, and the recorded data."""

    code: Path
    scratch: Path
    data: Path


@dataclass(frozen=True, slots=True)
class Measured:
    """Rows and bars of one part."""

    rows: list[dict[str, Cell]]
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process and its children took."""

    seconds: float
    peak_mb: float  # of all processes together, sampled
    cpu_seconds: float  # of all processes together; means the same on a busy machine


def python(*args: str) -> list[str]:
    return [sys.executable, *args]


def watched(command: Sequence[str], cache: Path) -> Spent:
    """Run a command to its end, adding up the memory of its processes as it goes."""
    started, before = time.perf_counter(), children_cpu()
    child = subprocess.Popen(
        list(command),
        env=child_environment({"LACONIC_CACHE_DIR": str(cache)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    peak = 0
    while child.poll() is None:
        peak = max(peak, sum(_resident(number) for number in _family(child.pid)))
        time.sleep(0.02)
    seconds = time.perf_counter() - started
    complaint = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
    if child.returncode:
        raise CommandFailed(f"{' '.join(command)} failed: {complaint[-300:]}")
    if child.stderr:
        child.stderr.close()
    return Spent(seconds, peak / 1e6, children_cpu() - before)


def children_cpu() -> float:
    """Seconds of processor time that all children took that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def spread(times: Sequence[float]) -> dict[str, Cell]:
    """Times in milliseconds: the middle, the 95th of a hundred, the longest."""
    ordered = [each * 1000 for each in sorted(times)]
    middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return {"n": len(ordered), "p50 ms": middle, "p95 ms": late, "max ms": ordered[-1]}


def _family(number: int) -> list[int]:
    """A process and all below it; only itself where the system does not tell."""
    found = [number]
    for each in found:
        try:
            told = Path(f"/proc/{each}/task/{each}/children").read_text()
        except OSError:
            continue
        found += [int(word) for word in told.split()]
    return found


def _resident(number: int) -> int:
    try:
        for line in Path(f"/proc/{number}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
