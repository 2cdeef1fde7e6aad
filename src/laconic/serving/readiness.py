"""Whether a process wants more requests, known to its server and to the page that says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Readiness:
    """How a process ends when it is told to: it says so, goes on for a while, takes no more, and finishes what it has."""

    notice: float = 0.0  # seconds in which it says so and still takes requests: a balancer needs them to notice
    longest: float = 3.0  # seconds that what it has may take then
    draining: bool = False
