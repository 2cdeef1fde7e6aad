"""What the model asks for in each scenario: files that are shown one after the other, each by a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec

_DRAWN: Final = 5  # scenarios of one seed


class Scenario(msgspec.Struct, frozen=True):
    """Files that are shown one after the other, as many for each prompt of the user."""

    name: str
    files: tuple[str, ...]
    prompts: int = 1
    is_compacted: bool = False  # clients compact its history by themselves, at different places in both runs


def write_log(number: int, lines: int) -> str:
    rows = []
    for row in range(lines):
        time = f"2026-01-01 12:{row % 60:02}:00"
        rows.append(f"{time} INFO worker {row % 7} handled request {number}-{row} in {row % 90} ms")
    return "\n".join([*rows, f"2026-01-01 13:00:00 ERROR request {number} failed: disk full"])


def write_code(number: int, functions: int) -> str:
    bodies = []
    for row in range(functions):
        bodies.append(f"def step_{number}_{row}(value):\n    total = value + {row}\n    return total * {number}\n")
    return "\n".join(bodies)


def _alternate(number: int) -> str:
    if number % 2:
        return write_log(number, 200)
    return write_code(number, 80)


SCENARIOS: Final = (
    Scenario("short", tuple(write_code(number, 4) for number in range(5))),
    Scenario("long logs", tuple(write_log(number, 350) for number in range(10))),
    Scenario("up to the window", tuple(write_log(number, 350) for number in range(13))),
    Scenario("many files", tuple(write_code(number, 60) for number in range(25))),
    Scenario("the same file again", (write_code(1, 120),) * 12),
    Scenario("code and logs", tuple(map(_alternate, range(16)))),
    Scenario("two prompts", tuple(write_code(number, 70) for number in (7, 8, 9, 7, 8, 9, 10, 7, 11, 8)), prompts=2),
)

# A third of the files are shown twice, so that there is something to save before and after the compaction.
COMPACTED: Final = Scenario(
    "past the client's own compaction",
    tuple(write_log(number - number % 3 // 2, 350) for number in range(66)),
    is_compacted=True,
)


def draw_scenarios(seed: int) -> tuple[Scenario, ...]:
    """Scenarios that nobody chose: their kinds, sizes, repetitions and prompts are random."""
    random = Random(seed)
    drawn: list[Scenario] = []
    for number in range(_DRAWN):
        different = [_draw_file(random, number) for number in range(random.randint(2, 18))]
        files = random.choices(different, k=random.randint(3, 24))
        drawn.append(Scenario(f"random {seed}-{number}", tuple(files), prompts=random.choice((1, 1, 2, 3))))
    return tuple(drawn)


def _draw_file(random: Random, number: int) -> str:
    write = random.choice(_WRITERS)
    return write(number, round(10 ** random.uniform(1.2, 2.8)))


def _write_records(number: int, rows: int) -> str:
    records = []
    for row in range(rows):
        records.append({"id": number * 1000 + row, "name": f"item {row}", "price": row * 7 % 90, "tags": ["a", "b"]})
    return json.dumps(records, indent=1)


def _write_tests(number: int, rows: int) -> str:
    lines = [f"tests/test_{number}.py::test_{row} PASSED [{100 * row // rows:3}%]" for row in range(rows)]
    return "\n".join([*lines, f"E   AssertionError: {number} != {rows}", f"1 failed, {rows} passed"])


def _write_paths(number: int, rows: int) -> str:
    return "\n".join(f"src/package_{row % 9}/module_{number}_{row}.py" for row in range(rows))


def _write_prose(number: int, rows: int) -> str:
    sentence = "Part {} of chapter {} says how the {} is made, and why the order of its {} steps matters."
    return "\n".join(sentence.format(row, number, ("engine", "wheel", "frame")[row % 3], row) for row in range(rows))


_WRITERS: Final[tuple[Callable[[int, int], str], ...]] = (
    write_log,
    write_code,
    _write_records,
    _write_tests,
    _write_paths,
    _write_prose,
)
