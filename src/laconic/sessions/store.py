"""Where ledger, archive and figures are kept: SQLite files of one user, or the PostgreSQL database of a team.

The stores themselves are written once, in SQL that both understand, against the protocols here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from laconic.config import Settings
from laconic.errors import BadSetting
from laconic.sessions.database import Database

T = TypeVar("T")
ALL_ROWS: Final = 2**62  # as a limit: SQLite's -1 is an error in PostgreSQL
_SCHEMES: Final = ("postgresql://", "postgres://")


class Rows(Protocol):
    """What a query gave."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class StoreConnection(Protocol):
    """An open connection. Values are marked with `?`, or with `:name`."""

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows: ...

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> object: ...


class StoreDatabase(Protocol):
    """One database, used by any number of threads and processes."""

    @property
    def faults(self) -> Counter[str]: ...

    @property
    def is_away(self) -> bool:
        """Whether it cannot be reached at the moment."""

    def read(self, work: Callable[[StoreConnection], T]) -> T:
        """Ask."""

    def write(self, work: Callable[[StoreConnection], T], *, flush: bool = True, alone: str = "") -> T:
        """Do all of it or nothing. Who writes `alone` about a name waits for others that do."""

    def erase(self, work: Callable[[StoreConnection], T]) -> T:
        """Remove rows for good."""

    def connection(self) -> StoreConnection:
        """For a reader of many queries."""

    def version(self) -> int:
        """Another number whenever somebody wrote."""

    def close(self) -> None: ...


class SharedStore(NamedTuple):
    """A part of a team's database."""

    url: str
    part: str  # ledger, archive, ...


StorePlace = Path | SharedStore


def find_place(settings: Settings, file: str) -> StorePlace:
    """Where the settings want what a file of this name holds on one machine."""
    url = settings.text("store")
    if not url:
        return settings.cache_dir() / file
    if not url.startswith(_SCHEMES):
        raise BadSetting(
            "`store` does not name a PostgreSQL database.",
            "Write postgresql://USER@HOST/DATABASE, or leave it empty for files on this machine.",
        )
    return SharedStore(url, file.partition(".")[0])


def exists(place: StorePlace) -> bool:
    """Whether there may be something in it. A shared one always counts: to look is to connect."""
    return isinstance(place, SharedStore) or place.exists()


def open_store(place: StorePlace, steps: Sequence[str], what: str = "", *, durable: bool = True) -> StoreDatabase:
    """The database at a place, with its tables. Without `durable` a crash may take what was written last."""
    if isinstance(place, Path):
        return Database(place, steps, what, durable=durable)
    try:
        from laconic.sessions.postgres import PostgresDatabase  # an extra: most installations do not have it
    except ImportError:
        raise BadSetting(
            "PostgreSQL needs packages that are not installed.", "Install laconic[team], or leave `store` empty."
        ) from None
    return PostgresDatabase(place.url, f"laconic_{place.part}", steps, what or place.part, durable=durable)
