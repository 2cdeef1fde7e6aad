"""What it costs to have Laconic: CPU to import and start, and the size of the installation."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from laconic.render.table import Cell
from laconic_benchmarks.report import Options, Report, at_most, versions

_ROUNDS = 7
_PROCESSES = ("mcp", "starlette", "uvicorn", "aiohttp", "httptools", "backports-zstd", "rich")  # servers and agent


def run(options: Options) -> Report:
    """CPU of fresh processes, each less that of a bare interpreter; size of every package that we require."""
    bare = _cpu("pass")
    imported = _cpu("import laconic") - bare
    started = _cpu(
        "import sys; sys.argv = ['laconic', '--version']; from laconic.cli.main import main; main(['--version'])"
    )
    sizes = _sizes("laconic")
    core = sum(_sizes("laconic", without=_PROCESSES).values()) / 1e6
    rows: list[dict[str, Cell]] = [
        {"what": "bare interpreter", "CPU ms": bare * 1000},
        {"what": "import laconic, above bare", "CPU ms": imported * 1000},
        {"what": "laconic --version, with the interpreter", "CPU ms": started * 1000},
    ]
    largest = sorted(sizes.items(), key=lambda entry: -entry[1])
    rows += [{"what": f"installed: {name}", "MB": round(size / 1e6, 1)} for name, size in largest[:12]]
    rows.append({"what": f"installed: without {', '.join(_PROCESSES)} and what they need", "MB": round(core, 1)})
    total = sum(sizes.values()) / 1e6
    rows.append({"what": f"installed: all {len(sizes)} packages", "MB": round(total, 1)})
    return Report(
        "startup",
        "this installation",
        "none",
        tuple(rows),
        (
            at_most("import laconic: CPU ms", max(0.0, imported) * 1000, 50),
            at_most("laconic --version: CPU ms", started * 1000, 150),
            at_most("installed MB, without what servers and agent bring along", core, 80),
        ),
        versions=versions(),
    )


def _cpu(code: str) -> float:
    """CPU seconds of the best of some fresh interpreters."""
    best = float("inf")
    for _ in range(_ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best


def _sizes(package: str, without: tuple[str, ...] = ()) -> dict[str, int]:
    """Bytes on disk of a package and of everything it requires, without compiled caches.

    Of extras only those that a requirement names: `pyjwt[crypto]` brings a library of 16 MB.
    """
    sizes: dict[str, int] = {}
    waiting = [package]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if requirement in seen:
            continue
        seen.add(requirement)
        name, _, extras = requirement.partition("[")
        if name in without:
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        files = [Path(str(path.locate())) for path in found.files or () if not str(path).endswith(".pyc")]
        sizes[name] = sum(file.stat().st_size for file in files if file.is_file())
        waiting += [
            _required(line) for line in found.requires or () if _is_wanted(line, extras.rstrip("]").split(","))
        ]
    return sizes


def _required(line: str) -> str:
    """`Py.JWT[crypto]>=2; python_version < "4"` as `py-jwt[crypto]`."""
    found = re.match(r"([\w.-]+)\s*(\[[\w,.\s-]*\])?", line)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[1]).lower() + (found[2] or "").replace(" ", "")


def _is_wanted(line: str, extras: list[str]) -> bool:
    extra = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", line)
    return extra is None or extra[1] in extras
