"""The sessions that this process has seen lately, as numbers: no content, no keys."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from laconic.gateway.engine import Caller
from laconic.wire.usage import Usage

_MOST: Final = 1000


@dataclass(slots=True)
class Row:
    """One session."""

    session: str
    model: str
    format: str
    requests: int = 0
    bytes_came: int = 0
    bytes_went: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    last: float = 0.0


class Roster:
    """Rows by session, the oldest forgotten first."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rows: OrderedDict[str, Row] = OrderedDict()

    def asked(self, who: Caller, format: str, came: int, went: int) -> None:
        row = self._rows.setdefault(who.session, Row(who.session, who.model[:100], format))
        self._rows.move_to_end(who.session)
        row.requests += 1
        row.bytes_came += came
        row.bytes_went += went
        row.last = self._clock()
        if len(self._rows) > _MOST:
            self._rows.popitem(last=False)

    def answered(self, who: Caller, usage: Usage) -> None:
        if row := self._rows.get(who.session):
            row.input += usage.input
            row.cache_read += usage.cache_read
            row.cache_write += usage.cache_write
            row.output += usage.output

    def rows(self) -> list[dict[str, object]]:
        """Newest first."""
        return [asdict(row) for row in reversed(self._rows.values())]
