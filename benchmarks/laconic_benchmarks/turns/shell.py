"""The shell as an agent's bash tool gives it: a folder, real commands, output cut as hosts cut it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Final

from laconic.config import child_environment
from laconic.workspace.process import run
from laconic_benchmarks.printed import Line
from laconic_benchmarks.turns.walk import Called

TOOL: Final = {
    "name": "bash",
    "description": "Run a command in a shell. Returns its output, cut to 30000 characters.",
    "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
_MOST: Final = 30_000  # characters of an output
_SECONDS: Final = 600.0  # no result may depend on how busy the machine is
_HIT: Final = re.compile(r"(?P<path>[^\n:]+):(?P<number>\d+):(?P<text>.*)")
_HIT_IN_FILE: Final = re.compile(r"(?P<number>\d+)[:-](?P<text>.*)")


class Shell:
    """Runs commands in a folder; knows which lines of which files an output shows."""

    def __init__(self, folder: Path, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._folder = folder
        self._lines_of = lines_of

    def run(self, command: str) -> Called:
        """A command whose output is made of hits, `path:12:text`, or of anything else."""
        output = self._output(command)
        return _called(command, output, self._hits(output))

    def search(self, command: str, path: str, most: int) -> Called:
        """A search in one file, whose hits are `12:text`, with lines around them as `13-text`."""
        command = f"{command} {quote(path)} | cut -c1-160 | head -{most}"
        output = self._output(command)
        found = (hit for text in output.split("\n") if (hit := _HIT_IN_FILE.fullmatch(text)))
        return _called(command, output, (Line(path, int(hit[1]), hit[2], 0) for hit in found))

    def read(self, path: str, start: int = 1, end: int = 0) -> Called:
        """Lines of a file; all of it without an end."""
        command = f"sed -n '{start},{end}p' {quote(path)}" if end else f"cat {quote(path)}"
        output = self._output(command)
        return _called(command, output, _numbered(output, path, start))

    def _hits(self, output: str) -> Iterator[Line]:
        for text in output.split("\n"):
            hit = _HIT.fullmatch(text)
            if hit and self._lines_of(hit["path"]):
                yield Line(hit["path"], int(hit["number"]), hit["text"], 0)

    def _output(self, command: str) -> str:
        """What the command prints; ripgrep is the one beside our Python, if there is one."""
        path = f"{Path(sys.executable).parent}:{child_environment().get('PATH', '')}"
        words = ["bash", "-c", f"{{ {command}\n}} < /dev/null 2>&1"]  # ripgrep reads what it is given, if anything
        done = run(words, self._folder, seconds=_SECONDS, environment={"PATH": path})
        text = done.output.decode("utf-8", "replace")
        return text if len(text) <= _MOST else f"{text[:_MOST]}\n[cut: {len(text)} characters]"


def _called(command: str, output: str, lines: Iterable[Line]) -> Called:
    return Called("bash", {"command": command}, output, list(lines))


def _numbered(output: str, path: str, start: int) -> Iterator[Line]:
    for number, text in enumerate(output.split("\n"), start):
        yield Line(path, number, text, 0)
