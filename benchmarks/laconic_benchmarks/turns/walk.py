"""One policy working on one task, turn by turn: what it pays for every prompt, and what it has seen by then.

A policy is a generator of turns; a turn is the list of calls that it makes at once. It decides on the answers alone: what
it should have found is known here only, to measure it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from laconic.tokens.count import Counter
from laconic_benchmarks.printed import Line
from laconic_benchmarks.turns.seen import Seen

CAREFUL: Final = "native, careful"
NAIVE: Final = "native, naive"
STEPS: Final = "code plane, in steps"
ONCE: Final = "code plane, at once"

_CACHED: Final = 0.1  # price of a token that the provider remembers


@dataclass(frozen=True, slots=True)
class Called:
    """A call with its answer, and the lines of files that the answer shows."""

    name: str
    arguments: dict[str, object]
    answer: str
    lines: Sequence[Line]


Policy = Iterator[list[Called]]


class Step(msgspec.Struct, frozen=True):
    """The state after a turn with calls."""

    calls: int
    prompt: int  # tokens of the prompt of this turn: everything so far is sent again
    shown: int  # tokens of the answers of this turn
    added: int  # tokens that this turn adds to the next prompt: its calls and answers
    functions: float  # share of the functions to edit that were seen so far
    edits: float  # share of the edited places that were seen so far
    seen: int  # functions of which the definition or five lines were shown so far
    read: int  # functions with a word of the task that were read so far


@dataclass(frozen=True, slots=True)
class Target:
    """What a policy is to have seen of the answer: known to the measurement, never to the policy."""

    functions: float = 0.0  # share of the functions to edit
    edits: float = 0.0  # share of the edited places

    def __call__(self, step: Step) -> bool:
        return step.functions >= self.functions and step.edits >= self.edits


@dataclass(frozen=True, slots=True)
class Rule:
    """When an agent that does not know the answer stops looking: the same for all."""

    seen: int = 0  # functions of which the definition or five lines were shown
    read: int = 0  # functions with a word of the task that were read

    def __call__(self, step: Step) -> bool:
        return step.seen >= self.seen and step.read >= self.read

    def __str__(self) -> str:
        return " and ".join(f"{n} {what}" for n, what in ((self.seen, "seen"), (self.read, "read")) if n)


class Walk(msgspec.Struct, frozen=True):
    """How one policy went about one task; the last prompt, with which the agent begins to edit, is counted too."""

    task: str
    languages: tuple[str, ...]
    leaks: bool
    policy: str
    fixed: int  # tokens that every prompt begins with
    steps: tuple[Step, ...]

    @property
    def turns(self) -> int:
        return len(self.steps) + 1

    @property
    def calls(self) -> int:
        return sum(step.calls for step in self.steps)

    @property
    def prompts(self) -> int:
        """Tokens of all prompts together: what is paid for without a cache."""
        last = self.steps[-1]
        return sum(step.prompt for step in self.steps) + last.prompt + last.added

    @property
    def shown(self) -> int:
        return sum(step.shown for step in self.steps)

    @property
    def end(self) -> Step:
        return self.steps[-1]

    @property
    def with_cache(self) -> float:
        """The same with a prompt cache: what was sent before costs a tenth."""
        new = self.steps[0].prompt + sum(step.added for step in self.steps)
        return new + _CACHED * (self.prompts - new)

    def until(self, ends: Callable[[Step], bool], most: int = 0) -> Walk:
        """The same walk, ended after the first turn that satisfies, or after so many."""
        ended = next((at for at, step in enumerate(self.steps, 1) if ends(step)), len(self.steps))
        return msgspec.structs.replace(self, steps=self.steps[: min(ended, most or ended)])


def steps(policy: Policy, seen: Seen, most: int, fixed: int, count: Counter) -> tuple[Step, ...]:
    """Let a policy go until it has nothing more to ask, for so many turns at most."""
    done: list[Step] = []
    prompt = fixed
    for calls in policy:
        asked = sum(count(f"{call.name}{msgspec.json.encode(call.arguments).decode()}") for call in calls)
        shown = sum(count(call.answer) for call in calls)
        for call in calls:
            for line in call.lines:
                seen.show(line)
        done.append(Step(len(calls), prompt, shown, asked + shown, seen.functions, seen.edits, seen.seen, seen.read))
        prompt += asked + shown
        if len(done) >= most:
            break
    return tuple(done) or (Step(0, fixed, 0, 0, 0.0, 0.0, 0, 0),)
