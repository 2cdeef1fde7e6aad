"""What a team spent, by person, team, project, client, model or day, as far as the one who asks may see it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from laconic.errors import UnknownName
from laconic.sessions.store import StoreDatabase
from laconic.sessions.team.keys import Role, TeamKey
from laconic.sessions.team.tables import DAY

Axis = Literal["person", "team", "project", "client", "model", "day"]
AXES: Final[tuple[Axis, ...]] = ("person", "team", "project", "client", "model", "day")
_SUMS: Final = "sum(requests), sum(prompt), sum(output), sum(dollars), sum(dollars_whole)"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute


class ViewerRights(msgspec.Struct, frozen=True):
    """Whose figures somebody may see."""

    role: Role
    owner: str = ""
    team: str = ""

    @classmethod
    def of(cls, key: TeamKey) -> ViewerRights:
        return cls(key.role, key.owner, key.team)

    def clause(self) -> tuple[str, list[Any]]:
        """As a condition of SQL and its values. A lead without a team leads nobody."""
        if self.role == "admin":
            return "1=1", []
        if self.role == "lead" and self.team:
            return "(team=? OR person=?)", [self.team, self.owner]
        return "person=?", [self.owner]


class SpendingLine(msgspec.Struct, frozen=True):
    """What one of them spent."""

    name: str
    requests: int
    prompt: int  # tokens
    output: int
    dollars: float
    dollars_without: float  # with the histories as they came


class TeamSpending:
    """Reads."""

    def __init__(self, file: StoreDatabase) -> None:
        self._file = file

    def lines(self, axis: str, since: float, rights: ViewerRights) -> Sequence[SpendingLine]:
        """By one axis, since the day of a moment, those who spent most first."""
        column = _column(axis)
        condition, values = rights.clause()
        order = "5 DESC, 1"
        if column == "day":
            order = "1 DESC"
        query = (
            f"SELECT {column}, {_SUMS} FROM spending WHERE day>=? AND {condition} GROUP BY {column} ORDER BY {order}"
        )
        values = [int(since) // DAY * DAY, *values]
        return [_line(row) for row in self._file.read(lambda base: base.execute(query, values).fetchall())]

    def rows(self, since: float, rights: ViewerRights) -> Sequence[tuple[Any, ...]]:
        """Everything that may be seen, as it is kept: one row a day, person, team, project, client and model."""
        condition, values = rights.clause()
        query = (
            "SELECT day, person, team, project, client, model, requests, prompt, output, dollars, dollars_whole"
            f" FROM spending WHERE day>=? AND {condition} ORDER BY day, person, team, project, client, model"
        )
        values = [int(since) // DAY * DAY, *values]
        return self._file.read(lambda base: base.execute(query, values).fetchall())


def write_csv(rows: Sequence[tuple[Any, ...]]) -> str:
    """The rows as a spreadsheet reads them; no cell is a formula."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\r\n")
    names = ("day", "person", "team", "project", "client", "model", "requests", "prompt_tokens", "output_tokens")
    table.writerow((*names, "dollars", "dollars_without_laconic"))
    for day, *rest in rows:
        table.writerow([_date(day), *(_cell(value) for value in rest)])
    return out.getvalue()


def _date(day: int) -> str:
    return datetime.fromtimestamp(day, UTC).date().isoformat()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    if isinstance(value, float):
        return f"{value:.6f}"
    return value


def _column(axis: str) -> str:
    """Never what a caller wrote: only a name that we know goes into a query."""
    for known in AXES:
        if axis == known:
            return known
    raise UnknownName("axis", axis, AXES)


def _line(row: Sequence[Any]) -> SpendingLine:
    name, requests, prompt, output, dollars, whole = row
    if isinstance(name, int):
        name = _date(name)
    return SpendingLine(
        name=str(name),
        requests=int(requests),
        prompt=int(prompt),
        output=int(output),
        dollars=float(dollars),
        dollars_without=float(whole),
    )
