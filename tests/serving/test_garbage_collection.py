"""A whole collection stops every stream: it waits for a moment in which there is none, but not for ever."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from laconic.serving.garbage_collection import GarbageCollection


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def garbage(clock: Clock) -> Iterator[GarbageCollection]:
    collection = GarbageCollection(clock)
    collection.begin()
    yield collection
    collection.end()


class Ring:
    """Refers to itself, so that only a collection frees it."""

    freed = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Ring.freed += 1


def test_what_is_garbage_goes_when_nothing_is_under_way(garbage: GarbageCollection, clock: Clock) -> None:
    Ring()
    before = Ring.freed
    clock.now = 11
    assert not garbage.look(1, busy=True)
    assert not garbage.look(1, busy=False)
    assert garbage.look(1, busy=False)
    assert Ring.freed == before + 1


def test_a_server_that_never_rests_collects_all_the_same(garbage: GarbageCollection, clock: Clock) -> None:
    clock.now = 59
    assert not garbage.look(5, busy=True)
    clock.now = 61
    assert garbage.look(5, busy=True)
    assert not garbage.look(6, busy=True)


def test_a_server_that_nobody_asks_has_nothing_to_collect(garbage: GarbageCollection, clock: Clock) -> None:
    clock.now = 1000
    assert not any(garbage.look(0, busy=False) for _ in range(5))


def test_python_collects_as_usual_afterwards(clock: Clock) -> None:
    usual = gc.get_threshold()
    collection = GarbageCollection(clock)
    collection.begin()
    assert gc.get_threshold() != usual
    collection.end()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0
