"""Run a program with a time limit and a bound on what it may print."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from laconic.config import child_environment
from laconic.errors import CommandFailed


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program left behind."""

    code: int
    output: bytes
    complaints: bytes


def run(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float = 30.0,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run to the end, or kill it when the time is over; a failing exit code is the caller's to judge."""
    try:
        done = subprocess.run(
            list(command),
            cwd=folder,
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=child_environment(environment),
        )
    except FileNotFoundError:
        raise CommandFailed(f"{command[0]} is not installed.", "Install it, or go on without it.") from None
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{command[0]} did not end within {seconds:g} s.", "Ask for less at once.") from None
    except (OSError, ValueError) as error:  # also a NUL in an argument
        raise CommandFailed(f"{command[0]} cannot be run in {folder}: {error}.") from None
    return Finished(done.returncode, done.stdout, done.stderr)
