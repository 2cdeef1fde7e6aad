"""Collect garbage while nobody waits: a whole collection stops every thread, and with it every stream, for a while."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Final

_YOUNG: Final = 5_000  # objects more than before, after which the newest are looked at
_NEVER: Final = 2**30  # collections of young objects before an old one: by itself Python makes none
_DUE: Final = 4  # collections of middle-aged objects after which the old ones are worth a look
_RESTED: Final = 10.0  # seconds after which they are in any case
_LONGEST: Final = 60.0  # seconds after which somebody has to wait
_QUIET: Final = 2  # looks in a row at which nothing was under way


class GarbageCollection:
    """Of one server. What was made before it began stays for as long as the process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._usual = gc.get_threshold()
        self._last = clock()
        self._served = 0
        self._quiet = 0

    def begin(self) -> None:
        """The server is ready."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(_YOUNG, self._usual[1], _NEVER)
        self._last = self._clock()

    def end(self) -> None:
        gc.set_threshold(*self._usual)
        gc.unfreeze()

    def look(self, served: int, *, busy: bool) -> bool:
        """Collect if it is time to; returns whether it was. `served` counts requests: without one there is no garbage."""
        self._quiet = 0 if busy else self._quiet + 1
        waited = self._clock() - self._last
        is_due = gc.get_count()[2] >= _DUE or waited >= _RESTED
        if served == self._served or not (waited >= _LONGEST or (is_due and self._quiet >= _QUIET)):
            return False
        gc.collect()
        self._served, self._last = served, self._clock()
        return True
