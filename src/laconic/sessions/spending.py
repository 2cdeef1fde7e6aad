"""What the recorded turns add up to: by session, hour, kind, tool, file and model. It only reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from laconic.config import Settings
from laconic.sessions.store import ALL_ROWS, StoreConnection, StorePlace, exists, find_place
from laconic.sessions.turn_tables import DAY, FILE, figures_file, keys
from laconic.wire.rate_limits import counts_cached

By = Literal["kind", "tool", "file"]
Order = Literal["last", "prompt", "whole", "dollars", "saved", "turns", "decisions", "output", "cache"]
_MINUTE: Final = 60.0  # seconds
_SUMS: Final = (
    "input, cache_read, cache_write, output, whole, dollars, dollars_whole, long, output_dollars, unpriced, estimated"
)
_COLUMNS: Final = (
    f"{_SUMS}, name, title, client, upstream, model, began, last, turns, errors, decisions, project, family, 0"
)
_TURN: Final = "number, at, turn, status, milliseconds, context, decisions, saved, mode, rung, evidence"
_NAMED: Final = ("name", "title", "client", "upstream", "model")
_FAMILY: Final = "CASE WHEN family='' THEN name ELSE family END"
# One row for a family, added up. It is named after the conversation with the largest prompt: the session itself.
_FAMILIES: Final = (
    f"WITH member AS (SELECT *, {_FAMILY} AS shared, row_number() OVER (PARTITION BY {_FAMILY} ORDER BY"
    " input+cache_read+cache_write DESC, id) AS place FROM session WHERE {where}), added AS (SELECT "
    + ", ".join(f"sum({name.strip()}) AS {name.strip()}" for name in _SUMS.split(","))
    + "".join(f", max(CASE WHEN place=1 THEN {name} END) AS {name}" for name in _NAMED)
    + ", min(began) AS began, max(last) AS last, sum(turns) AS turns, sum(errors) AS errors,"
    " sum(decisions) AS decisions, max(CASE WHEN place=1 THEN project END) AS project, max(family) AS family,"
    " count(*)-1 AS side FROM member GROUP BY shared) SELECT * FROM added ORDER BY {order} DESC, name LIMIT ? OFFSET ?"
)
_ORDERS: Final[dict[str, str]] = {
    "last": "last",
    "prompt": "input+cache_read+cache_write",
    "whole": "whole",
    "dollars": "dollars",
    "saved": "dollars_whole-dollars",
    "turns": "turns",
    "decisions": "decisions",
    "output": "output_dollars",
    "cache": "cache_read*1.0/max(1, input+cache_read+cache_write)",
}


class SpendingSums(msgspec.Struct, frozen=True):
    """What answers cost, and what they would have cost with the history as it came."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    whole: float  # prompt tokens without us
    dollars: float  # for prompts and answers
    dollars_whole: float
    long: int  # of what was written to a cache, tokens that it keeps for an hour
    output_dollars: float  # of the dollars, those for answers
    unpriced: int  # tokens whose price is not known
    estimated: int  # turns of which the provider did not report all

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write


class SessionRow(SpendingSums, frozen=True):
    """One session as a sum of its turns."""

    session: str
    title: str
    client: str
    upstream: str
    model: str
    began: float
    last: float
    turns: int
    errors: int
    decisions: int
    project: str
    family: str
    side: int  # conversations beside it that are added up in this row


class SessionFilter(msgspec.Struct, frozen=True):
    """Which sessions to list; empty: all."""

    clients: tuple[str, ...] = ()  # as they name themselves
    project: str = ""
    words: str = ""  # in the title, the model or the project
    since: float = 0.0

    def clause(self) -> tuple[str, list[object]]:
        """As a condition of SQL and its values."""
        parts = ["last>=?"]
        found: list[object] = [self.since]
        if self.clients:
            parts.append(f"client IN ({','.join('?' * len(self.clients))})")
            found.extend(self.clients)
        if self.project:
            parts.append("project=?")
            found.append(self.project)
        for word in self.words.split():
            parts.append("instr(lower(title||' '||model||' '||project||' '||name), ?)>0")
            found.append(word.lower())
        return " AND ".join(parts), found


_EVERY: Final = SessionFilter()


class TurnRow(SpendingSums, frozen=True):
    """One turn."""

    number: int
    at: float
    turn: int
    status: int
    milliseconds: int
    context: int
    decisions: int
    saved: int
    mode: str
    rung: str
    evidence: bytes  # what it changed of the request before, as its writer wrote it


class HourlySpending(SpendingSums, frozen=True):
    """All turns of an hour."""

    hour: int
    turns: int


class SpendingPart(msgspec.Struct, frozen=True):
    """What blocks of one kind, tool or file cost."""

    name: str
    blocks: int
    entered: int  # tokens when they came, once each
    sent: int  # tokens over all turns, as sent
    whole: int  # as they would have been without us


class MalformedCalls(msgspec.Struct, frozen=True):
    """Calls of a model that could not be used."""

    upstream: str
    model: str
    reason: str
    count: int
    last: float


class ModelUse(msgspec.Struct, frozen=True):
    """What a model was used for."""

    upstream: str
    model: str
    sessions: int
    turns: int
    prompt: int
    whole: float  # prompt tokens without us
    output: int
    dollars: float
    dollars_whole: float
    output_dollars: float
    unpriced: int
    estimated: int


class QuotaRow(msgspec.Struct, frozen=True):
    """What a provider last said is left of a minute's tokens, and what of them went in the last minute.

    What does not count against the limit is not in it: tokens that a cache gave, and the output where it has a limit of
    its own, both with Anthropic.
    """

    upstream: str
    model: str
    at: float
    tokens: int
    tokens_left: int
    reset: float
    spent: int


class Spending:
    """The record, open for reading; changes of other processes are seen."""

    def __init__(self, place: StorePlace) -> None:
        self._file = figures_file(place)
        self._file.connection()

    @classmethod
    def find(cls, settings: Settings) -> Spending | None:
        """The user's record; None where nothing was recorded yet."""
        place = find_place(settings, FILE)
        if not exists(place):
            return None
        return cls(place)

    @property
    def _base(self) -> StoreConnection:
        return self._file.connection()

    def close(self) -> None:
        self._file.close()

    def version(self) -> int:
        """Another number whenever something was written."""
        return self._file.version()

    def count(self, wanted: SessionFilter = _EVERY) -> int:
        """How many sessions there are, each with what its client asked on the side."""
        where, values = wanted.clause()
        query = f"SELECT count(DISTINCT {_FAMILY}) FROM session WHERE {where}"
        (number,) = self._base.execute(query, values).fetchone()
        return int(number)

    def sessions(
        self, order: Order = "last", limit: int = ALL_ROWS, offset: int = 0, wanted: SessionFilter = _EVERY
    ) -> list[SessionRow]:
        """Sessions, the most first; what a client asked on the side is added to the session that it belongs to."""
        where, values = wanted.clause()
        query = _FAMILIES.format(where=where, order=_ORDERS[order])
        found: list[SessionRow] = []
        for row in self._base.execute(query, (*values, limit, offset)):
            found.append(SessionRow(*row))
        return found

    def single_sessions(self, since: float = 0.0) -> list[SessionRow]:
        """Every conversation by itself that went on since a moment, the newest first."""
        query = f"SELECT {_COLUMNS} FROM session WHERE last>=? ORDER BY last DESC"
        found: list[SessionRow] = []
        for row in self._base.execute(query, (since,)):
            found.append(SessionRow(*row))
        return found

    def since_newest(self, since: float, most: int) -> tuple[float, bool]:
        """The moment since which sessions have so many turns, no earlier than another; and whether it is later."""
        total = 0
        for row in self.single_sessions(since):
            total += row.turns
            if total >= most:
                return row.last, True
        return since, False

    def side_sessions(self, row: SessionRow) -> list[SessionRow]:
        """Other conversations to which the client gave the id of this one."""
        if not row.family:
            return []
        query = f"SELECT {_COLUMNS} FROM session WHERE family=? AND name<>? ORDER BY began"
        return [SessionRow(*found) for found in self._base.execute(query, (row.family, row.session))]

    def clients(self) -> list[str]:
        """All that were seen, by name."""
        return self._distinct("client")

    def projects(self) -> list[str]:
        return self._distinct("project")

    def _distinct(self, column: str) -> list[str]:
        query = f"SELECT DISTINCT {column} FROM session WHERE {column}<>'' ORDER BY 1"
        found: list[str] = []
        for (name,) in self._base.execute(query):
            found.append(name)
        return found

    def session(self, name: str) -> SessionRow | None:
        row = self._base.execute(f"SELECT {_COLUMNS} FROM session WHERE name=?", (name,)).fetchone()
        if row:
            return SessionRow(*row)
        return None

    def all_turns(self, since: float = 0.0) -> Iterator[tuple[str, TurnRow]]:
        """The turns of all sessions that went on since a moment, each with its session's name, in order."""
        columns = ", ".join(f"turn.{name.strip()}" for name in f"{_SUMS}, {_TURN}".split(","))
        query = (
            f"SELECT session.name, {columns} FROM turn JOIN session ON session.id=turn.session WHERE session.last>=?"
            " ORDER BY turn.session, turn.number"
        )
        for name, *row in self._base.execute(query, (since,)):
            yield name, TurnRow(*row)

    def turns(self, name: str) -> list[TurnRow]:
        """The turns of a session, in order."""
        query = (
            f"SELECT {_SUMS}, {_TURN} FROM turn WHERE session=(SELECT id FROM session WHERE name=?) ORDER BY number"
        )
        found: list[TurnRow] = []
        for row in self._base.execute(query, (name,)):
            found.append(TurnRow(*row))
        return found

    def hours(self, since: float = 0.0) -> list[HourlySpending]:
        """Hours in which something happened, in order."""
        query = f"SELECT {_SUMS}, hour, turns FROM hour WHERE hour>=? ORDER BY hour"
        found: list[HourlySpending] = []
        for row in self._base.execute(query, (since,)):
            found.append(HourlySpending(*row))
        return found

    def parts(self, by: By, since: float = 0.0, limit: int = ALL_ROWS) -> list[SpendingPart]:
        """Where tokens went since a day, over all sessions, the most first. What has no tool or file is left out."""
        query = (
            "SELECT name, sum(blocks), sum(entered), sum(sent) AS total, sum(whole) FROM tally WHERE axis=? AND day>=?"
            " GROUP BY name ORDER BY total DESC, name LIMIT ?"
        )
        found: list[SpendingPart] = []
        for row in self._base.execute(query, (by, int(since) // DAY * DAY, limit)):
            found.append(SpendingPart(*row))
        return found

    def parts_of(self, session: str, by: By, limit: int = ALL_ROWS) -> list[SpendingPart]:
        """The same for one session."""
        query = (
            f"SELECT {by}, sum(blocks), sum(entered), sum(part.sent+sent_now*(session.turns-since)) AS total,"
            " sum(part.whole+whole_now*(session.turns-since)) FROM part JOIN session ON session.id=part.session"
            f" WHERE session.name=? AND {by}<>'' GROUP BY 1 ORDER BY total DESC, 1 LIMIT ?"
        )
        found: list[SpendingPart] = []
        for row in self._base.execute(query, (session, limit)):
            found.append(SpendingPart(*row))
        return found

    def about(self, session: str, found: Iterable[str]) -> dict[str, tuple[str, str, str]]:
        """Kind, tool and file of blocks, by their keys."""
        numbers = keys(found)
        rows = self._base.execute(
            "SELECT key, kind, tool, file FROM block JOIN part ON part.id=block.part"
            " WHERE block.session=(SELECT id FROM session WHERE name=?)",
            (session,),
        )
        result: dict[str, tuple[str, str, str]] = {}
        for key, kind, tool, file in rows:
            if key in numbers:
                result[numbers[key]] = (kind, tool, file)
        return result

    def malformed(self) -> Sequence[MalformedCalls]:
        """The most first."""
        rows = self._base.execute("SELECT * FROM malformed ORDER BY count DESC, upstream, model, reason")
        return [MalformedCalls(*row) for row in rows]

    def models(self) -> Sequence[ModelUse]:
        """All models, the most used first."""
        rows = self._base.execute(
            "SELECT upstream, model, count(*), sum(turns), sum(input+cache_read+cache_write) AS prompt, sum(whole),"
            " sum(output), sum(dollars), sum(dollars_whole), sum(output_dollars), sum(unpriced), sum(estimated)"
            " FROM session GROUP BY upstream, model ORDER BY prompt DESC, upstream, model"
        )
        return [ModelUse(*row) for row in rows]

    def quotas(self, now: float) -> Sequence[QuotaRow]:
        """Quotas of which a provider spoke, the newest first."""
        rows = self._base.execute(
            "SELECT account, model, format, sum(turn.input+turn.cache_write), sum(turn.cache_read), sum(turn.output)"
            " FROM turn JOIN session ON session.id=turn.session WHERE turn.at>? GROUP BY account, model, format",
            (now - _MINUTE,),
        )
        spent: dict[tuple[str, str], tuple[int, int]] = {}
        for account, model, format, fresh, cached, output in rows:
            before = spent.get((account, model), (0, 0))
            if counts_cached(format, model):
                prompt = fresh + cached
            else:
                prompt = fresh
            spent[account, model] = (before[0] + prompt, before[1] + output)
        rows = self._base.execute(
            "SELECT account, model, upstream, at, tokens, tokens_left, reset, input_only FROM quota ORDER BY at DESC"
        )
        found = []
        for account, model, upstream, at, tokens, left, reset, input_only in rows:
            prompt, output = spent.get((account, model), (0, 0))
            counted = prompt if input_only else prompt + output
            found.append(
                QuotaRow(
                    upstream=upstream, model=model, at=at, tokens=tokens, tokens_left=left, reset=reset, spent=counted
                )
            )
        return found
