"""Counters of the process, in the text form that Prometheus reads. No content, no keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

HELP: Final = {
    "laconic_requests_total": "Requests by upstream, format and status.",
    "laconic_unrouted_total": "Requests that belong to no configured provider and were refused.",
    "laconic_fail_open_total": "Requests that passed unchanged because Laconic failed, by failure.",
    "laconic_disconnects_total": "Requests that the client abandoned.",
    "laconic_upstream_faults_total": "Answers that the provider did not finish, by fault.",
    "laconic_request_bytes_total": "Bytes of conversations, as received and as sent.",
    "laconic_prompt_tokens_total": "Prompt tokens that providers reported: plain, read from a cache, written to one.",
    "laconic_output_tokens_total": "Output tokens that providers reported.",
    "laconic_malformed_calls_total": "Unusable calls in a model's text, by provider, model and reason.",
    "laconic_asked_again_total": "Answers without a usable call, after which the model was asked again.",
    "laconic_recalls_total": "Answers in which a model called `recall`, and the gateway answered.",
    "laconic_probes_total": "Probes of models for function calling, by result and by how it was found.",
    "laconic_store_faults_total": "Laconic files that could not be used, by file and fault.",
    "laconic_store_away": "Whether a part of the shared store cannot be reached (1), by part.",
    "laconic_team_refusals_total": "Requests with a team's key that it did not allow, by status.",
    "laconic_in_flight": "Requests that are being answered.",
}
_MOST: Final = 10**12
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """All counters. Touched by the event loop only."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, Labels], float] = {}
        self._watched: list[tuple[str, Callable[[], Mapping[Labels, float]]]] = []

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count. An amount that no number of ours can have is left out: one of them would spoil the counter for good."""
        if not -_MOST <= amount <= _MOST or (amount < 0 and name.endswith("_total")):
            return
        key = (name, tuple(sorted(labels.items())))
        self._values[key] = self._values.get(key, 0) + amount

    def watch(self, name: str, count: Callable[[], Mapping[Labels, float]]) -> None:
        """Numbers that somebody else counts."""
        self._watched.append((name, count))

    def value(self, name: str, **labels: str) -> float:
        return self._values.get((name, tuple(sorted(labels.items()))), 0)

    def total(self, name: str) -> float:
        """Over all labels."""
        return sum(value for (own, _), value in self._values.items() if own == name)

    def samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        """All values of one number, with their labels; from any thread."""
        found = []
        for (own, labels), value in self._sorted():
            if own == name:
                found.append((dict(labels), value))
        return found

    def text(self) -> str:
        lines: list[str] = []
        for name, about in HELP.items():
            kind = "gauge"
            if name.endswith("_total"):
                kind = "counter"
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            for (own, labels), value in self._sorted():
                if own == name:
                    lines.append(f"{name}{_labels(labels)} {_number(value)}")
        return "\n".join(lines) + "\n"

    def _sorted(self) -> Iterable[tuple[tuple[str, Labels], float]]:
        watched = {}
        for name, count in self._watched:
            for labels, value in count().items():
                watched[(name, labels)] = value
        return sorted((self._values | watched).items())


def _number(value: float) -> str:
    """All digits of a whole number: rounded, a counter would stand still."""
    if value == int(value):
        return str(int(value))
    return repr(value)


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
