"""A question with the places that answer it, and how well a list of places does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

PARTS: Final = ("tune", "choose", "report")
_OF_TEN: Final = (5, 7)  # of ten repositories the first five are for tuning, the next two to choose by


class Target(NamedTuple):
    """A place that answers a question: a file, or lines of it."""

    path: str
    first: int = 0
    last: int = 0


class Question(NamedTuple):
    """What somebody asks, and what answers it."""

    text: str
    category: str
    targets: tuple[Target, ...]


class FoundPlace(NamedTuple):
    """One hit of an answer."""

    path: str
    first: int
    last: int


def part_of(repository: str) -> str:
    """What a repository may be used for. It is the same in every run, and says nothing about the repository."""
    number = int(sha256(repository.lower().encode()).hexdigest(), 16) % 10
    return PARTS[sum(number >= limit for limit in _OF_TEN)]


def is_answer(place: FoundPlace, target: Target) -> bool:
    """Whether a hit is in the file, and touches the lines, of a target. Either path may begin further up."""
    one, other = f"/{place.path}", f"/{target.path}"
    if not (one.endswith(other) or other.endswith(one)):
        return False
    return not target.first or (place.first <= target.last and target.first <= place.last)


def rank_targets(places: Sequence[FoundPlace], question: Question) -> list[int]:
    """For each target the rank of the first hit that answers it; 0 where none does."""
    ranks = []
    for target in question.targets:
        ranks.append(next((at for at, place in enumerate(places, 1) if is_answer(place, target)), 0))
    return ranks


def ndcg(ranks: Sequence[int], depth: int = 10) -> float:
    """The normalised discounted cumulative gain of the first hits: every target counts the same, once."""
    held = {rank for rank in ranks if 1 <= rank <= depth}
    gain = math.fsum(1 / math.log2(rank + 1) for rank in held)
    return gain / math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(ranks)) + 1))


def reciprocal(ranks: Sequence[int]) -> float:
    """One over the rank of the first right hit."""
    held = [rank for rank in ranks if rank]
    if not held:
        return 0.0
    return 1 / min(held)
