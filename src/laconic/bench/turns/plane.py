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
_NAMED: Final = re.compile(r"(?P<start>\d+)-(?P<end>\d+) \S.*")


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


def with_plane(text: str, tools: Tools, budget: str = "") -> Policy:
    """`context` with the text of the task; then what it named and did not show, and names of the task it left out."""
    first = tools.call("context", task=text, **({"budget": budget} if budget else {}))
    yield [first]
    places = _unshown(first, tools)
    absent = [name for name in Clues.of(text).names if name not in first.answer]
    while places or absent:
        calls = [tools.call("read", targets=places[:_AT_ONCE])] if places else []
        calls += [tools.call("search", query=" OR ".join(absent))] if absent else []
        yield calls
        places, absent = places[_AT_ONCE:], []


def _unshown(context: Called, tools: Tools) -> list[str]:
    """Places that an answer names by their first line only, best first."""
    shown = {(line.path, line.number) for line in context.lines}
    places: list[str] = []
    path = ""
    for text in context.answer.split("\n"):
        if tools.is_path(text):
            path = text
        elif (named := _NAMED.fullmatch(text)) and path:
            start, end = int(named["start"]), int(named["end"])
            if end > start and (path, start + 1) not in shown:
                places.append(f"{path}:{start}-{min(end, start + _WINDOW - 1)}")
    return places
