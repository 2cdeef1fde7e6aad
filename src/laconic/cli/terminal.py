"""What only a terminal gets: colours, and a bar with an estimate of the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Final, TypeVar

from laconic.config import child_environment

_T = TypeVar("_T")
_COLOURS: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_WIDTH: Final = 30
_QUIET: Final = 1.0  # seconds before the bar appears: what is soon done needs none
_PAUSE: Final = 0.1  # between two updates


def paint(text: str, colour: str, stream: IO[str] | None = None) -> str:
    """The text in a colour where a person sees it, and as it is elsewhere."""
    stream = stream or sys.stdout
    if not stream.isatty() or child_environment().get("NO_COLOR"):
        return text
    return f"\033[{_COLOURS[colour]}m{text}\033[0m"


class ProgressBar:
    """A bar on standard error, `[####....] 320/2,900 files, about 12 s left`. Call it with done and total."""

    def __init__(self, unit: str, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit = unit
        self._stream = stream or sys.stderr
        self._clock = clock
        self._started = clock()
        self._next = self._started + _QUIET
        self._shown = 0  # characters on the line

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if now < self._next or not self._stream.isatty():
            return
        self._next = now + _PAUSE
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._write(f"[{bar}] {done:,}/{total:,} {self._unit}{self._estimate(done, total, now)}")

    def close(self) -> None:
        """Leave no trace on the terminal."""
        if self._shown:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _estimate(self, done: int, total: int, now: float) -> str:
        if not done:
            return ""
        left = (now - self._started) * (total - done) / done
        return f", about {format_seconds(left)} left"

    def _write(self, line: str) -> None:
        self._stream.write("\r" + line.ljust(self._shown))
        self._stream.flush()
        self._shown = len(line)


def format_seconds(seconds: float) -> str:
    """`12 s`, `3 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def track(items: Sequence[_T], unit: str, weights: Iterable[int] | None = None) -> Iterator[_T]:
    """The items one by one, with a bar; weights make the estimate better where items differ in size."""
    if weights is not None:
        sizes = list(weights)
    else:
        sizes = [1] * len(items)
    bar = ProgressBar(unit)
    total, done = sum(sizes), 0
    try:
        for item, size in zip(items, sizes, strict=True):
            bar(done, total)
            yield item
            done += size
    finally:
        bar.close()
