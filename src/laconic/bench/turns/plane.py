"""An agent with the code plane: the task as it is, then the bodies that were only named, then what was never shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from laconic.bench.printed import printed
from laconic.bench.turns.clues import Clues
from laconic.bench.turns.walk import Called, Policy
from laconic.tools.plane import Plane
from laconic.tools.session import Session

_AT_ONCE: Final = 4  # places that are read in one turn, as with the shell
_WINDOW: Final = 40  # lines of a read, as with the shell
_NAMED: Final = re.compile(r"(?P<line>\d+) \S.*")  # a definition by its first line


class Tools:
    """The tools of a workspace for one session."""

    def __init__(self, plane: Plane, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._plane = plane
        self._lines_of = lines_of
        self._session = Session()

    def call(self, name: str, **arguments: object) -> Called:
        reply = self._plane.call(name, arguments, self._session)
        return Called(name, arguments, reply.text, list(printed(reply.text, self._lines_of)))

    def is_path(self, text: str) -> bool:
        return bool(self._lines_of(text))


def with_plane(text: str, tools: Tools, budgets: Sequence[str] = ("",)) -> Policy:
    """`context` with the text of the task, with one budget after another; each adds what was not sent before.

    Then reads of what it named and did not show, and a search for the names of the task that it left out.
    """
    told: list[Called] = []
    for budget in budgets:
        told.append(tools.call("context", task=text, **({"budget": budget} if budget else {})))
        yield told[-1:]
    places = _unshown(told, tools)
    absent = [name for name in Clues.of(text).names if not any(name in each.answer for each in told)]
    while places or absent:
        calls = [tools.call("read", targets=places[:_AT_ONCE])] if places else []
        calls += [tools.call("search", query=" OR ".join(absent))] if absent else []
        yield calls
        places, absent = places[_AT_ONCE:], []


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
