"""Run a program with a time limit and a bound on what it may print."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.workspace.programs import find_program


@dataclass(frozen=True, slots=True)
class ProcessResult:
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
    without: str = "",
) -> ProcessResult:
    """Run to the end, or kill it when the time is over; a failing exit code is the caller's to judge.

    The program gets our environment and `environment` on top, and no variable of ours that starts with `without`.
    """
    variables = child_environment(environment, without=without)
    program = find_program(command[0], folder, variables)
    name = Path(program).name
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=folder,
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=variables,
        )
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{name} did not end within {seconds:g} s.", "Ask for less at once.") from None
    except (OSError, ValueError) as error:  # also a NUL in an argument
        raise CommandFailed(f"{name} cannot be run in {folder}: {error}.") from None
    return ProcessResult(done.returncode, done.stdout, done.stderr)
