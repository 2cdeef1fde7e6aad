"""Fill the figures of every page from the files in the cache folder. It reads, and knows nothing of HTML."""

from __future__ import annotations

import pkgutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

import laconic.tools
from laconic.clients.registry import client_title
from laconic.config import Settings
from laconic.conversation.cost_causes import explain
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Removal
from laconic.dashboard.aggregate import (
    decision_events,
    decision_figures,
    estimate_runway,
    list_buckets,
    newest_decisions,
    number_turns,
    scale_kinds,
    scale_parts,
    session_figures,
    share,
    shares_of,
    sum_totals,
    turn_figures,
)
from laconic.dashboard.figures import (
    ArchivedText,
    Bucket,
    CausesPage,
    ModelFigures,
    Models,
    Overview,
    SessionPage,
    Sessions,
    SpendingPage,
    Tools,
)
from laconic.errors import UnknownName, Unreadable
from laconic.exchange.cost_sources import measure_own
from laconic.models.price_lookup import Prices
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import FILE as LEDGER
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import HourlySpending, Order, SessionFilter, Spending
from laconic.sessions.store import SharedStore, exists, find_place
from laconic.sessions.tool_call_log import FILE as CALLS
from laconic.sessions.tool_call_log import ToolCallFigures, ToolCallLog
from laconic.sessions.turn_tables import DAY, HOUR
from laconic.sessions.turn_tables import FILE as TURNS

_EXPLAINED: Final = 5_000  # turns whose causes a page explains: it is drawn again whenever a turn is added
_MOMENTS: Final = 20  # that cost most
_NEWEST: Final = 12  # sessions on the first page
_PAGE: Final = 50  # sessions on a page of the list
_ROWS: Final = 50  # of a table of parts
_FEW: Final = 25  # of such a table on a session's page
_DECISIONS: Final = 100  # that a session's page lists
_TEXT: Final = 400_000  # characters of archived text that a page shows
_STALE: Final = 120.0  # seconds after which a quota says nothing about now
_FILES: Final = (TURNS, CALLS, LEDGER, "archive.sqlite")


class DashboardQueries:
    """The figures of one cache folder. May be called from several threads; one at a time reads."""

    def __init__(self, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._folder = settings.cache_dir()
        self._now = now
        self._spending: Spending | None = None
        self.lock = Lock()

    def version(self) -> str:
        """Changes whenever a file does."""
        marks = []
        for name in _FILES:
            for path in (self._folder / name, self._folder / f"{name}-wal"):
                try:
                    found = path.stat()
                except FileNotFoundError:
                    continue
                marks.append(f"{found.st_mtime_ns:x}.{found.st_size:x}")
        if isinstance(find_place(self._settings, TURNS), SharedStore):
            marks.append(f"{self._read().version():x}")
        return "-".join(marks)

    def moment(self, seconds: float) -> int:
        """Changes after so many seconds, as long as a quota is watched that changes with the clock alone."""
        now = self._now()
        watched = any(now - row.at < 2 * _STALE for row in self._read().quotas(now))
        if watched:
            return int(now // seconds)
        return 0

    def overview(self, days: int = 30) -> Overview:
        """The last days; 0: everything."""
        now, spending = self._now(), self._read()
        since = now - days * DAY if days else 0.0
        hours = spending.hours(since - HOUR)
        bucket = "day"
        if days == 1 or (hours and hours[-1].hour - hours[0].hour < 2 * DAY):
            bucket = "hour"
        width = HOUR if bucket == "hour" else DAY
        groups: dict[int, list[HourlySpending]] = {}
        for hour in hours:
            groups.setdefault(hour.hour // width * width, []).append(hour)
        totals = sum_totals(hours)
        return Overview(
            days=days,
            sessions_total=spending.count(SessionFilter(since=since)),
            totals=totals,
            bucket=bucket,
            buckets=[Bucket(at, sum_totals(groups.get(at, ()))) for at in list_buckets(groups, width, since, now)],
            quotas=[estimate_runway(row, now) for row in spending.quotas(now) if now - row.at < _STALE],
            kinds=scale_kinds(spending.parts("kind", since), totals),
            sessions=[
                session_figures(row) for row in spending.sessions("last", _NEWEST, wanted=SessionFilter(since=since))
            ],
        )

    def sessions(
        self, order: Order = "last", page: int = 1, wanted: SessionFilter | None = None, client: str = ""
    ) -> Sessions:
        """One page of all sessions, or of those that are wanted; `client` is a title."""
        wanted = wanted or SessionFilter()
        spending = self._read()
        titles: dict[str, list[str]] = {}
        for agent in spending.clients():
            titles.setdefault(client_title(agent), []).append(agent)
        if client:
            wanted = msgspec.structs.replace(wanted, clients=tuple(titles.get(client, [client])))
        total = spending.count(wanted)
        pages = max(1, -(-total // _PAGE))
        page = min(max(1, page), pages)
        rows = spending.sessions(order, _PAGE, (page - 1) * _PAGE, wanted)
        return Sessions(
            order=order,
            page=page,
            pages=pages,
            total=total,
            sessions=[session_figures(row) for row in rows],
            totals=sum_totals(spending.sessions(wanted=wanted)),
            client=client,
            project=wanted.project,
            words=wanted.words,
            clients=sorted(titles, key=str.lower),
            projects=spending.projects(),
        )

    def session(self, name: str, until: int = 0) -> SessionPage:
        """One session in full; its decisions up to a turn, or to the newest."""
        spending = self._read()
        row = spending.session(name)
        if row is None:
            raise UnknownName("session", name, fix="It was never recorded, or was deleted: see the list.")
        turns = spending.turns(name)
        decisions = self._decisions(name)
        made = number_turns(turns)
        about = spending.about(name, (_block(decision) for decision in decisions))
        if decisions:
            kept = set()
            for entry in self._archive().entries(name):
                kept.add(entry.ref)
        else:
            kept = set()
        rows = []
        for decision in decisions:
            rows.append(decision_figures(decision, made, about.get(_block(decision), ("", "", "")), kept))
        figures = session_figures(row)
        kinds = spending.parts_of(name, "kind")
        shares = shares_of(kinds, figures.totals)
        return SessionPage(
            session=figures,
            turns=turn_figures(turns),
            events=decision_events(rows),
            decisions_total=len(rows),
            evicted_tokens=sum(decision.saved for decision in rows),
            decisions=newest_decisions(rows, until, _DECISIONS),
            kinds=scale_kinds(kinds, figures.totals),
            tools=scale_parts(spending.parts_of(name, "tool", _ROWS), shares),
            files=scale_parts(spending.parts_of(name, "file", _FEW), shares),
            side=[session_figures(other) for other in spending.side_sessions(row)],
        )

    def spending(self, days: int = 30) -> SpendingPage:
        """Where tokens went in the last days, over all sessions; 0: ever."""
        spending = self._read()
        since = self._now() - days * DAY if days else 0.0
        kinds = spending.parts("kind", since)
        totals = sum_totals(spending.hours(since - HOUR))
        shares = shares_of(kinds, totals)
        return SpendingPage(
            days=days,
            sent=totals.prompt,
            whole=totals.prompt_without,
            kinds=scale_kinds(kinds, totals),
            tools=scale_parts(spending.parts("tool", since, _ROWS), shares),
            files=scale_parts(spending.parts("file", since, _ROWS), shares),
            sessions=[
                session_figures(row)
                for row in spending.sessions("prompt", _NEWEST, wanted=SessionFilter(since=since))
            ],
        )

    def causes(self, days: int = 30) -> CausesPage:
        """Why the sessions of the last days cost what they did; 0: all sessions."""
        since = self._now() - days * DAY if days else 0.0
        prices = Prices(self._settings.text("prices"))
        begun, is_cut = self._read().since_newest(since, _EXPLAINED)
        report = explain(measure_own(self._read(), begun), prices.of, _MOMENTS)
        return CausesPage(days, is_cut, report.avoidable, report)

    def tools(self) -> Tools:
        """What tools cost; a name that a model made up is no tool."""
        ours: list[ToolCallFigures] = []
        names = set()
        for module in pkgutil.iter_modules(laconic.tools.__path__):
            names.add(module.name)
        if (self._folder / CALLS).exists():
            with _name_file_in_errors(self._folder / CALLS), closing(ToolCallLog(self._folder)) as calls:
                for row in calls.figures():
                    if row.tool in names:
                        ours.append(row)
        spending = self._read()
        shares = shares_of(spending.parts("kind"), sum_totals(spending.hours()))
        return Tools(ours, scale_parts(spending.parts("tool", limit=_ROWS), shares))

    def models(self) -> Models:
        """What models cost, and how often their calls could not be used."""
        spending = self._read()
        malformed = list(spending.malformed())
        broken: dict[tuple[str, str], int] = {}
        for row in malformed:
            broken[row.upstream, row.model] = broken.get((row.upstream, row.model), 0) + row.count
        models = []
        for use in spending.models():
            count = broken.get((use.upstream, use.model), 0)
            models.append(
                ModelFigures(
                    *(use.upstream, use.model, use.sessions, use.turns, use.prompt, use.output, use.dollars),
                    output_dollars=use.output_dollars,
                    unpriced=use.unpriced,
                    malformed=count,
                    malformed_share=share(count, use.turns),
                )
            )
        return Models(models, malformed)

    def archive_entry(self, ref: str) -> ArchivedText:
        """Something that was left out, with its text as far as a page can show it."""
        entry = self._archive().entry(ref)
        text = self._archive().get(ref).decode("utf-8", "replace")
        shown = text[:_TEXT]
        return ArchivedText(
            *(entry.ref, entry.session, entry.task, entry.note, entry.stored, entry.size),
            lines=text.count("\n") + 1,
            shown=shown.count("\n") + 1,
            text=shown,
        )

    def archive_bytes(self, ref: str) -> bytes:
        """The same in full."""
        return self._archive().get(ref)

    def _read(self) -> Spending:
        if self._spending is None:
            with _name_file_in_errors(self._folder / TURNS):
                self._spending = Spending(find_place(self._settings, TURNS))
        return self._spending

    def _archive(self) -> Archive:
        return Archive.of(self._settings)

    def _decisions(self, name: str) -> Sequence[Decision | Removal]:
        if not exists(find_place(self._settings, LEDGER)):
            return ()
        found: list[Decision | Removal] = []
        with closing(LedgerFile.of(self._settings, LedgerEntry, Branch)) as ledger:
            for event in ledger.events(name):
                found += [*event.decisions, *event.removals]
        return found


def _block(decision: Decision | Removal) -> str:
    """The block that a decision is listed by."""
    if isinstance(decision, Decision):
        return decision.key
    return decision.keys[0]


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """Trouble with a file names the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.", "Remove it; Laconic creates a new one.") from error
