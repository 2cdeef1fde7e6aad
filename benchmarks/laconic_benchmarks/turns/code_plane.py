"""An agent with the code plane: the task as it is, then outlines of the best files, then bodies that were only named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic_benchmarks.printed import Line, printed
from laconic_benchmarks.turns.clues import Clues
from laconic_benchmarks.turns.walk import Called, Policy

_AT_ONCE: Final = 4  # places that are read in one turn, as with the shell
_WINDOW: Final = 40  # lines of a read, as with the shell
_NAMED: Final = re.compile(r"(?P<line>\d+) \S.*")  # a definition by its first line
_HEADER: Final = re.compile(r"\[(.+)#[0-9a-f]+ \d+ lines?\]")
_ENTRY: Final = re.compile(r"\s*(?P<start>\d+)(?:-(?P<end>\d+))? (?P<text>\S.*)")
_SIGNATURE: Final = 15  # lines in which the name of a function is looked for
_KNOWN: Final = 60  # characters of a line by which it is known


class Tools:
    """The tools of a workspace for one session."""

    def __init__(self, runtime: ToolRuntime, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._plane = runtime
        self._lines_of = lines_of
        self._session = Session()

    def call(self, name: str, **arguments: object) -> Called:
        reply = self._plane.call(name, arguments, self._session)
        lines = outlined if name == "map" else printed
        return Called(name, arguments, reply.text, list(lines(reply.text, self._lines_of)))

    def is_path(self, text: str) -> bool:
        return bool(self._lines_of(text))


def outlined(answer: str, lines_of: Callable[[str], Sequence[str]]) -> Iterator[Line]:
    """The definitions that an outline shows, as the file has them; it leaves out decorators and what opens a body."""
    path, characters = "", 0
    for text in answer.split("\n"):
        characters += len(text) + 1
        if header := _HEADER.fullmatch(text):
            path = header[1]
        elif entry := _ENTRY.fullmatch(text):
            source = lines_of(path)
            start, end = int(entry["start"]), int(entry["end"] or entry["start"])
            for number in range(start, min(end, start + _SIGNATURE, len(source)) + 1):
                line = source[number - 1].strip()
                if (shown := line.rstrip(" :{(")) and entry["text"].startswith(shown[:_KNOWN]):
                    yield Line(path, number, line, characters)
                    break


def with_plane(text: str, tools: Tools, budgets: Sequence[str]) -> Policy:
    """`context` with the text of the task, with one budget after another; each adds what was not sent before.

    Then outlines of the best files, with a search for the names of the task that did not come up; then reads of what was
    named and not shown.
    """
    told: list[Called] = []
    for budget in budgets:
        told.append(tools.call("context", task=text, budget=budget))
        yield told[-1:]
    absent = [name for name in Clues.of(text).names if not any(name in each.answer for each in told)]
    outlines = [tools.call("map", path=path) for path in _files(told, tools)[:_AT_ONCE]]
    outlines += [tools.call("search", query=" OR ".join(absent))] if absent else []
    if outlines:
        yield outlines
    places = _unshown(told, tools)
    while places:
        yield [tools.call("read", targets=places[:_AT_ONCE])]
        places = places[_AT_ONCE:]


def _files(told: Sequence[Called], tools: Tools) -> list[str]:
    """Files that answers name, best first."""
    found = (text for each in told for text in each.answer.split("\n") if tools.is_path(text))
    return list(dict.fromkeys(found))


def _unshown(told: Sequence[Called], tools: Tools) -> list[str]:
    """Windows on what answers name by its first line only, best first; none begins inside one before it."""
    shown = {(line.path, line.number) for each in told for line in each.lines}
    places: list[str] = []
    path = ""
    for text in (text for each in told for text in each.answer.split("\n")):
        if tools.is_path(text):
            path = text
        elif (named := _NAMED.fullmatch(text)) and path:
            line = int(named["line"])
            if (path, line + 1) not in shown:
                places.append(f"{path}:{line}-{line + _WINDOW - 1}")
                shown.update((path, number) for number in range(line, line + _WINDOW + 1))
    return places
