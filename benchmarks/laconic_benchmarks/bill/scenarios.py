"""What the model asks for in each scenario: files that are shown one after the other, each by a command."""

from __future__ import annotations

from typing import Final

import msgspec


class Scenario(msgspec.Struct, frozen=True):
    """Files that are shown one after the other, as many for each prompt of the user."""

    name: str
    files: tuple[str, ...]
    prompts: int = 1


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
