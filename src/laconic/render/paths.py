"""Short names for folders that an answer repeats, where they save tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Aliases:
    """What was shortened: a legend line for the top of the answer, and the short form of each path."""

    legend: str = ""
    short: dict[str, str] = field(default_factory=dict)


def alias(paths: Iterable[str], cost: Callable[[str], int], most: int = 3) -> Aliases:
    """Name the folders whose repetition costs most; nothing when the legend would not pay for itself."""
    wanted = list(dict.fromkeys(paths))
    chosen: list[str] = []
    for _ in range(most):
        rest = [path for path in wanted if not any(path.startswith(f"{folder}/") for folder in chosen)]
        best = max(_folders(rest), key=lambda entry: _count_saved(entry, len(chosen) + 1, cost), default=None)
        if best is None or _count_saved(best, len(chosen) + 1, cost) <= 0:
            break
        chosen.append(best[0])
    names = {folder: f"~{number}" for number, folder in enumerate(chosen, 1)}
    short = {path: _shorten(path, names) for path in wanted}
    legend = " ".join(f"{name}={folder}" for folder, name in names.items())
    return Aliases(f"{legend}\n" if legend else "", short)


def _folders(paths: list[str]) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")[:-1]
        counts.update("/".join(parts[:depth]) for depth in range(2, len(parts) + 1))
    return [(folder, count) for folder, count in counts.items() if count > 1]


def _count_saved(entry: tuple[str, int], number: int, cost: Callable[[str], int]) -> int:
    folder, count = entry
    name = f"~{number}"
    return count * (cost(f"{folder}/x") - cost(f"{name}/x")) - cost(f"{name}={folder} ")


def _shorten(path: str, names: dict[str, str]) -> str:
    for folder, name in names.items():
        if path.startswith(f"{folder}/"):
            return name + path[len(folder) :]
    return path
