"""What a benchmark says: rows of figures, bars with their verdict, and what it was measured on."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol, TypeVar

import msgspec

from laconic import __version__
from laconic.render.table import Cell, format_table

T = TypeVar("T")


class Bar(msgspec.Struct, frozen=True):
    """A figure that decides, and whether it holds."""

    name: str
    value: float
    wanted: str  # as people write it: "at least 0.97"
    holds: bool


class Report(msgspec.Struct, frozen=True):
    """The result of one benchmark, as JSON and as a table."""

    name: str
    corpus: str
    tokenizer: str
    rows: tuple[dict[str, Cell], ...]
    bars: tuple[Bar, ...] = ()
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    def to_json(self) -> str:
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_table(self) -> str:
        about = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        parts = [f"{self.name}: {self.corpus}; tokens by {self.tokenizer}; {about}", "", format_table(self.rows)]
        parts += [
            f"{'ok  ' if bar.holds else 'MISS'} {bar.name}: {bar.value:g} (wanted {bar.wanted})" for bar in self.bars
        ]
        return "\n".join([*parts, *self.notes])


class Progress(Protocol):
    """Hears a line about what is under way."""

    def __call__(self, said: str) -> None: ...


def _quietly(said: str) -> None:
    """For callers that do not want to know."""


class Benchmark(Protocol):
    """What a module of this package holds when it is a benchmark."""

    def run(self, options: Options) -> Report: ...


class Options(msgspec.Struct, frozen=True):
    """What the command line passes on."""

    data: str  # folder with the recorded data
    cache: str  # folder for downloaded corpora
    args: tuple[str, ...] = ()
    mirror: str = ""  # folder with bare clones of public repositories, as owner+name/repo
    tasks: int = 0  # that are measured, spread over all; 0 means all of them
    quick: bool = False  # small samples, for a first look
    public: bool = False  # measure on a public benchmark instead
    out: str = ""  # folder for what a benchmark writes
    fresh: bool = False  # measure again what a folder already holds
    steps: int = 0  # of a random walk; 0: as many as the benchmark takes by itself
    seed: int = 0  # of its random numbers
    against: str = ""  # the Python of another version, which is measured in turn with this one
    progress: Progress = _quietly  # hears of what is under way


def sampled(rows: Sequence[T], wanted: int) -> list[T]:
    """As many rows as wanted, spread evenly over all; all of them for 0."""
    if not wanted or wanted >= len(rows):
        return list(rows)
    return [rows[at * len(rows) // wanted] for at in range(wanted)]


def at_least(name: str, value: float, least: float) -> Bar:
    return Bar(name, round(value, 4), f"at least {least:g}", value >= least)


def at_most(name: str, value: float, most: float) -> Bar:
    return Bar(name, round(value, 4), f"at most {most:g}", value <= most)


def versions(*packages: str) -> dict[str, str]:
    """Our version, Python's, and those of the packages that were measured."""
    found = {"laconic": __version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
