"""Kill a build at random moments: the next start must work and end with the same rows."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

from laconic.config import child_environment
from laconic.index.workspace_index import Index
from laconic_benchmarks.index.measured import Measured, Place, python
from laconic_benchmarks.report import at_least

_ROUNDS = 30
_FILES = 700  # of the corpus: enough for several batches


def measure(place: Place) -> Measured:
    code = place.scratch / "some"
    _copy_some(place.code, code)
    started = time.perf_counter()
    wanted, files = _complete(code, place.scratch / "whole")
    length = time.perf_counter() - started
    moments = random.Random(1)
    same = begun = 0
    for number in range(_ROUNDS):
        cache = place.scratch / f"killed{number}"
        child = subprocess.Popen(
            python("-m", "laconic", "index", str(code)),
            env=child_environment({"LACONIC_CACHE_DIR": str(cache)}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(0.05, length + 0.5))
        child.kill()
        begun += child.wait() != 0
        same += _complete(code, cache)[0] == wanted
        shutil.rmtree(cache)
    return Measured(
        [{"what": "killed builds", "n": _ROUNDS, "in the middle": begun, "files": files, "build s": length}],
        [at_least("killed builds that end with the same rows", same / _ROUNDS, 1)],
    )


def _complete(code: Path, cache: Path) -> tuple[str, int]:
    index = Index.open(code, cache)
    try:
        index.build(seconds=60)
        return index.store.fingerprint(), index.statistics().files
    finally:
        index.close()


def _copy_some(source: Path, target: Path) -> None:
    files = sorted(path for path in source.rglob("*") if path.is_file() and ".git" not in path.parts)
    step = max(1, len(files) // _FILES)
    for path in files[::step][:_FILES]:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
