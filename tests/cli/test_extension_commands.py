"""Commands of other installed packages are found by entry points, and never stand in for ours."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import laconic

_COMMAND = '''"""Greet somebody.

Politely.
"""


def add_arguments(parser):
    parser.add_argument("--loud", action="store_true", help="shout")


def run(args, settings):
    print("HELLO" if args.loud else "hello")
    return 3
'''


def _install(folder: Path, points: str) -> None:
    """A package as pip leaves it: a module, and the record of what it adds."""
    (folder / "greeting_command.py").write_text(_COMMAND)
    record = folder / "greeting-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text(f"[laconic.commands]\n{points}\n")


def _laconic(path: Path, *words: str, site: bool = True) -> subprocess.CompletedProcess[str]:
    flags = ("-P",) if site else ("-P", "-S")
    return subprocess.run(
        [sys.executable, *flags, "-m", "laconic", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(path), str(Path(laconic.__file__).parents[1])))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_of_another_package_runs_and_is_listed(tmp_path: Path) -> None:
    _install(tmp_path, "greet = greeting_command")
    done = _laconic(tmp_path, "greet", "--loud")
    assert (done.stdout, done.returncode) == ("HELLO\n", 3)
    assert "  greet        Greet somebody\n" in _laconic(tmp_path, "--help").stdout
    assert "--loud" in _laconic(tmp_path, "greet", "--help").stdout
    script = _laconic(tmp_path, "completion", "bash").stdout
    assert 'greet) words="' in script


@pytest.mark.parametrize("ours", ["completion", "search"], ids=["command", "tool"])
def test_no_package_replaces_a_command_of_ours(ours: str, tmp_path: Path) -> None:
    plain = _laconic(tmp_path, ours, "--help").stdout
    _install(tmp_path, f"{ours} = greeting_command")
    assert _laconic(tmp_path, ours, "--help").stdout == plain
    assert "Greet somebody" not in _laconic(tmp_path, "--help").stdout


@pytest.mark.parametrize("value", ["missing_module", "missing_package.command", "greeting_command:run"])
def test_a_broken_package_is_named_and_stops_nothing_else(value: str, tmp_path: Path) -> None:
    _install(tmp_path, f"greet = {value}")
    done = _laconic(tmp_path, "greet")
    assert done.returncode == 2
    assert done.stderr.startswith("laconic: `laconic greet` ")
    assert done.stderr.count("\n") == 1
    assert _laconic(tmp_path, "--help").returncode == 0


def test_without_the_benchmarks_bench_says_how_to_get_them(tmp_path: Path) -> None:
    """All that is installed here, except for the benchmarks."""
    for installed in Path(sysconfig.get_path("purelib")).iterdir():
        if "laconic_benchmarks" not in installed.name:
            (tmp_path / installed.name).symlink_to(installed)
    done = _laconic(tmp_path, "bench", "outputs", site=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "`pip install ./benchmarks`" in done.stderr
    overview = _laconic(tmp_path, "--help", site=False).stdout
    assert "  search " in overview
    assert "  bench " not in overview
