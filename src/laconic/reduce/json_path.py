"""Paths into JSON: `items[0].name`, `items[*].id`, `rows[2:5]`, `["a key"].x`. Pure."""

from __future__ import annotations

import json
import re
from typing import Final

from laconic.errors import UsageError

_STEP: Final = re.compile(
    r"""\.?(?P<key>[^.\[\]"']+)|\[(?P<index>-?\d+)\]|\[(?P<first>-?\d*):(?P<last>-?\d*)\]|\[(?P<all>\*)\]
    |\.?\[?(?P<quoted>"(?:[^"\\]|\\.)*")\]?""",
    re.VERBOSE,
)
_NAMED: Final = 12  # keys that an error lists


def read_path(text: str) -> list[str | int | slice]:
    """The steps of a path; a leading `$` says nothing."""
    rest = text.strip().removeprefix("$")
    steps: list[str | int | slice] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None or found.end() == at:
            raise UsageError(f"{text!r} is not a path.", "Write `items[0].name` or `items[*].id`.")
        at = found.end()
        if found["key"] is not None:
            steps.append(found["key"].strip())
        elif found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["all"]:
            steps.append(slice(None))
        elif found["quoted"] is not None:
            steps.append(json.loads(found["quoted"]))
        else:
            steps.append(slice(*(int(end) if end else None for end in (found["first"], found["last"]))))
    return steps


def select_path(value: object, text: str) -> object:
    """What a path leads to. After `[*]` or a range, the rest of the path is followed in every item."""
    return _follow(value, read_path(text), text, 0)


def _follow(value: object, steps: list[str | int | slice], text: str, at: int) -> object:
    for place in range(at, len(steps)):
        step = steps[place]
        if isinstance(step, slice):
            if not isinstance(value, list):
                raise _nothing(text, value, "no list")
            return _collect(value[step], steps, text, place + 1)
        if isinstance(step, int):
            if not isinstance(value, list):
                raise _nothing(text, value, "no list")
            if not -len(value) <= step < len(value):
                raise _nothing(text, value, f"no item {step}")
            value = value[step]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            raise _nothing(text, value, f"no {step!r}")
    return value


def _collect(items: list[object], steps: list[str | int | slice], text: str, at: int) -> list[object]:
    """The rest of the path in every item; items that do not have it are left out, unless none has."""
    found: list[object] = []
    problem: UsageError | None = None
    nested = any(isinstance(step, slice) for step in steps[at:])
    for item in items:
        try:
            inner = _follow(item, steps, text, at)
        except UsageError as error:
            problem = problem or error
            continue
        if nested and isinstance(inner, list):
            found.extend(inner)
        else:
            found.append(inner)
    if problem is not None and not found:
        raise problem
    return found


def _nothing(text: str, value: object, missing: str) -> UsageError:
    return UsageError(f"{text!r} leads nowhere: there is {missing}.", describe_shape(value))


def describe_shape(value: object) -> str:
    """What a value is, so that the next path finds its way."""
    if isinstance(value, dict):
        names = [str(name)[:60] for name in list(value)[:_NAMED]]
        more = ", ..." if len(value) > _NAMED else ""
        return f"There is a map with: {', '.join(names)}{more}."
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            names = [str(name)[:60] for name in list(value[0])[:_NAMED]]
            return f"There is a list of {len(value)}; the first item has: {', '.join(names)}."
        return f"There is a list of {len(value)}."
    return f"There is {json.dumps(value)[:80]}."
