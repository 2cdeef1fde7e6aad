"""Corpora that benchmarks measure on: samples that ship, source distributions fetched once, and the recorded data."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from laconic.errors import CommandFailed, Unreadable
from laconic_benchmarks.snapshot import Snapshot

DJANGO = "django==5.2.19"
SAMPLES = Path(__file__).parent / "samples"  # recorded data that comes with this package, laid out as other data is


def sdist(requirement: str, cache: Path) -> Path:
    """The unpacked source distribution of a package, from the registry that pip is set up with."""
    target = cache / requirement.replace("==", "-")
    if target.is_dir():
        return next(target.iterdir())
    cache.mkdir(parents=True, exist_ok=True)
    command = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "--dest", str(cache), requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    name, _, number = requirement.partition("==")
    name = name.replace("-", "_")
    found = [file for each in (name, name.capitalize()) for file in sorted(cache.glob(f"{each}-{number}*.tar.gz"))]
    if done.returncode or not found:
        raise CommandFailed(f"pip could not download {requirement}: {done.stderr[-300:]}", "Check the registry.")
    staging = cache / f"{target.name}.part"
    with tarfile.open(found[-1]) as archive:
        archive.extractall(staging, filter="data")
    staging.rename(target)
    return next(target.iterdir())


def texts(folder: Path, *suffixes: str, limit: int = 1_000_000) -> Iterator[tuple[Path, str]]:
    """Text files below a folder, in a stable order; files that are not UTF-8 or too large are passed over."""
    if not folder.is_dir():
        raise Unreadable(f"{folder} is not a folder.", "Name the data with --data or LACONIC_BENCH_DATA.")
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or (suffixes and path.suffix not in suffixes) or path.stat().st_size > limit:
            continue
        try:
            yield path, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def npm_package(requirement: str, cache: Path) -> Path:
    """The unpacked package of another registry, for code bases that are not on the first; needs npm."""
    target = cache / requirement.replace("/", "-").lstrip("@").replace("@", "-")
    if target.is_dir():
        return target / "package"
    staging = cache / f"{target.name}.part"
    staging.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            ["npm", "pack", "--silent", requirement], capture_output=True, text=True, check=False, cwd=staging
        )
    except FileNotFoundError:
        raise CommandFailed("npm is not installed.", "Install it, or name folders to measure on instead.") from None
    found = sorted(staging.glob("*.tgz"))
    if done.returncode or not found:
        raise CommandFailed(f"npm could not download {requirement}: {done.stderr[-300:]}", "Check the registry.")
    with tarfile.open(found[-1]) as archive:
        archive.extractall(staging, filter="data")
    staging.rename(target)
    return target / "package"


def snapshot(repository: str, commit: str, mirror: Path, cache: Path) -> Path:
    """The text files of a public repository at a commit, laid out once from its bare clone."""
    bare = mirror / repository.replace("/", "+") / "repo"
    target = cache / f"{repository.replace('/', '+')}-{commit[:12]}"
    if target.is_dir():
        return target
    if not bare.is_dir():
        raise Unreadable(f"{bare} is not there.", "Name the folder with the clones in the setting bench.mirror.")
    staging = target.with_name(f"{target.name}.part")
    staging.mkdir(parents=True, exist_ok=True)
    Snapshot(bare, staging).show(commit)
    staging.rename(target)
    return target
