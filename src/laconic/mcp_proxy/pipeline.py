"""Several calls in one: steps that call tools which only read, and select, filter, join, sort and count what they answer.

Steps are data, not code. Everything is bounded, and an error names the step.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from laconic.errors import LaconicError, UsageError
from laconic.mcp_proxy.messages import Message
from laconic.reduce.foreign_rows import read_python
from laconic.reduce.json_path import describe_shape, select_path
from laconic.reduce.pattern import compile_pattern

STEPS: Final = 20
CALLS: Final = 60
ROWS: Final = 20_000
SECONDS: Final = 60.0
_AT_ONCE: Final = 8  # calls of one `each`
_MATCHING: Final = 0.5  # seconds for a pattern in one text
_REFERENCE: Final = re.compile(r"\$([A-Za-z_]\w*)((?:\.[^.\[\]\s]+|\[[^\]]*\])*)")
_OPERATORS: Final = ("call", "select", "filter", "join", "count", "sort", "limit", "lines", "sum", "unique")

CallTool = Callable[[str, Message], Awaitable[Message]]
"""Calls a foreign tool that only reads; raises LaconicError for one that may not be called."""


class StepFailed(UsageError):
    """A step of a pipeline cannot be done."""


class Pipeline:
    """One run. Values have names: `$name`, `$name.path[0]`; `$item` is the item of an `each`."""

    def __init__(self, call: CallTool) -> None:
        self._call = call
        self._calls = 0
        self._values: dict[str, object] = {}

    async def run(self, steps: object) -> object:
        """The value of the last step."""
        if isinstance(steps, str):
            steps = _decode(steps)
        if not isinstance(steps, list) or not steps:
            raise UsageError(
                "`steps` must be a list of steps.", 'Write [{"call": "tool", "arguments": {}, "as": "a"}].'
            )
        if len(steps) > STEPS:
            raise UsageError(f"{len(steps)} steps are too many.", f"At most {STEPS}.")
        last: object = None
        try:
            async with asyncio.timeout(SECONDS):
                for number, step in enumerate(steps, 1):
                    last = await self._do(number, step)
        except TimeoutError:
            raise UsageError(f"The pipeline took more than {SECONDS:g} s.", "Ask for less.") from None
        return last

    async def _do(self, number: int, step: object) -> object:
        what = ""
        try:
            if not isinstance(step, Mapping):
                raise UsageError("A step must be a map.", f"It has one of: {', '.join(_OPERATORS)}.")
            what = next((name for name in _OPERATORS if name in step), "")
            if not what:
                given = ", ".join(str(name)[:20] for name in list(step)[:6]) or "nothing"
                raise UsageError(f"It has {given}, but no operation.", f"Name one of: {', '.join(_OPERATORS)}.")
            if what == "call":
                value = await self._call_step(step)
            else:
                value = self._transform(what, step)
            if isinstance(value, list) and len(value) > ROWS:
                raise UsageError(f"{len(value):,} rows are too many.", f"At most {ROWS:,}: filter earlier.")
        except LaconicError as error:
            label = f"{what} {step.get(what)!r}"[:80] if what and isinstance(step, Mapping) else "no step"
            raise StepFailed(f"Step {number} ({label}) failed: {error.problem}", error.fix) from None
        self._values[str(step.get("as") or f"step{number}")] = value
        return value

    async def _call_step(self, step: Mapping[str, Any]) -> object:
        name = str(step["call"])
        arguments = step.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise UsageError("`arguments` must be a map.")
        if "each" not in step:
            return await self._one_call(name, self._fill(arguments))
        items = [item for item in _rows(self._value(step["each"])) if item not in ("", None)]
        if len(items) > CALLS:
            raise UsageError(f"`each` has {len(items)} items.", f"At most {CALLS} calls: filter or limit them first.")
        found: list[object] = []
        for start in range(0, len(items), _AT_ONCE):
            calls = []
            for item in items[start : start + _AT_ONCE]:
                calls.append(self._one_call(name, self._fill(arguments, item), item))
            found += await asyncio.gather(*calls)
        return found

    async def _one_call(self, name: str, arguments: Any, item: object = None) -> object:
        self._calls += 1
        if self._calls > CALLS:
            raise UsageError(f"More than {CALLS} calls.", "Filter before you call.")
        try:
            value = read_result(await self._call(name, arguments))
        except UsageError as error:
            about = "" if item is None else f" (for {_plain(item)[:60]})"
            raise UsageError(f"{error.problem}{about}", error.fix or f"`tools` shows what {name} needs.") from None
        if item is None:
            return value
        return {"item": item, "result": value}

    def _transform(self, what: str, step: Mapping[str, Any]) -> object:
        value = self._value(step[what][0] if what == "join" and isinstance(step[what], list) else step[what])
        if what == "lines":
            return _find_lines(value, str(step.get("match", "")))
        if what == "limit":
            return _rows(value)[: _size(step.get("to", 10))]
        if what == "join":
            if not isinstance(step[what], list) or len(step[what]) != 2:
                raise UsageError("`join` takes two lists.", 'Write {"join": ["$a", "$b"], "on": ["id", "a_id"]}.')
            return _join(_rows(value), _rows(self._value(step[what][1])), step.get("on"))
        rows = _rows(value)
        _need(rows, step.get("by"))
        if what == "select":
            return _select(rows, step.get("fields"))
        if what == "filter":
            return _filter(rows, step.get("where"))
        if what == "sort":
            return sorted(
                rows, key=lambda row: _sort_key(_field(row, step.get("by"))), reverse=bool(step.get("desc"))
            )
        if what == "sum":
            return sum(_number(_field(row, step.get("by"))) for row in rows)
        if what == "unique":
            return list({json.dumps(_field(row, step.get("by")), default=str): row for row in rows}.values())
        return _count(rows, step.get("by"))

    def _value(self, text: object) -> object:
        """What `$name.path` stands for; anything else stands for itself."""
        if not isinstance(text, str) or not text.startswith("$"):
            return text
        found = _REFERENCE.fullmatch(text.strip())
        if found is None or found[1] not in self._values:
            known = ", ".join(f"${name}" for name in self._values) or "none yet"
            raise UsageError(f"There is no value {text!r}.", f"Values: {known}.")
        return select_path(self._values[found[1]], found[2])

    def _fill(self, value: Any, item: object = None) -> Any:
        """Arguments with their references replaced, also inside longer texts."""
        if isinstance(value, dict):
            return {key: self._fill(inner, item) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._fill(inner, item) for inner in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return self._resolve(whole, item)
        return _REFERENCE.sub(lambda found: _plain(self._resolve(found, item)), value)

    def _resolve(self, found: re.Match[str], item: object) -> object:
        if found[1] == "item" and item is not None:
            return select_path(item, found[2])
        if found[1] not in self._values:
            return found[0]  # a dollar sign of the argument's own
        return select_path(self._values[found[1]], found[2])


def read_result(result: Message) -> object:
    """The answer of a tool as a value: structured content, JSON, or text."""
    if result.get("isError"):
        raise UsageError(f"The tool answered with an error: {_joined(result)[:400]}")
    if result.get("structuredContent") is not None:
        held: object = result["structuredContent"]
        if isinstance(held, dict) and len(held) == 1 and isinstance(held.get("content"), str):
            return _decode(held["content"])
        return held
    text = _joined(result)
    return read_python(text, fewest=1) or _decode(text)


def _decode(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _joined(result: Message) -> str:
    found = []
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            found.append(block["text"])
    return "\n".join(found)


def _rows(value: object) -> list[Any]:
    """A list, the only list inside a map, or the lines of a text."""
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        if len(lists) == 1:
            return lists[0]
    raise UsageError("That is not a list.", describe_shape(value))


def _field(row: object, path: object) -> object:
    if not path:
        return row
    try:
        return select_path(row, str(path))
    except UsageError:
        return None


def _need(rows: Sequence[object], name: object) -> None:
    """A field that no row has is a mistake, not nothing."""
    if name and rows and all(_field(row, name) is None for row in rows):
        raise UsageError(f"No row has `{name}`.", describe_shape(rows[0]))


def _size(value: object) -> int:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"`to` is {_plain(value)[:40]}, which is not a count.", 'Write {"limit": "$a", "to": 10}.')
    return value


def _select(rows: Sequence[object], fields: object) -> list[object]:
    if isinstance(fields, str):
        _need(rows, fields)
        return [_field(row, fields) for row in rows]
    if not isinstance(fields, list) or not fields:
        return list(rows)
    found: list[object] = []
    for row in rows:
        found.append({str(name): _field(row, name) for name in fields})
    if rows and all(value is None for row in found if isinstance(row, dict) for value in row.values()):
        raise UsageError(f"No row has any of {', '.join(map(str, fields))}.", describe_shape(rows[0]))
    return found


def _filter(rows: Sequence[object], where: object) -> list[object]:
    """Rows that fit all conditions: a value, a list of values, or `{">": 3}`; a pattern for rows of text."""
    if isinstance(where, str):
        rule = compile_pattern(where)
        return [row for row in rows if rule.search(_plain(row), timeout=_MATCHING)]
    if not isinstance(where, Mapping) or not where:
        raise UsageError("`where` is missing.", 'Write {"where": {"state": "open", "size": {">": 10}}}.')
    for name in where:
        _need(rows, name)
    return [row for row in rows if all(_holds(_field(row, name), wish) for name, wish in where.items())]


def _holds(value: object, wish: object) -> bool:
    if isinstance(wish, list):
        return value in wish
    if not isinstance(wish, Mapping):
        return value == wish
    return all(_compare(value, str(sign), other) for sign, other in wish.items())


def _compare(value: object, sign: str, other: object) -> bool:
    if sign == "~":
        return bool(compile_pattern(str(other)).search(_plain(value), timeout=_MATCHING))
    if sign in {"=", "=="}:
        return value == other
    if sign == "!=":
        return value != other
    left, right = _sort_key(value), _sort_key(other)
    match sign:
        case ">":
            return left > right
        case "<":
            return left < right
        case ">=":
            return left >= right
        case "<=":
            return left <= right
    raise UsageError(f"{sign!r} is not a comparison.", "Use =, !=, >, <, >=, <= or ~.")


def _join(left: Sequence[object], right: Sequence[object], on: object) -> list[object]:
    """Rows of both lists whose keys are equal; where both have a name, the left one counts."""
    names = on if isinstance(on, list) else [on, on]
    if len(names) != 2 or not all(names):
        raise UsageError("`on` is missing.", 'Write "on": "id", or "on": ["id", "user_id"].')
    _need(left, names[0])
    _need(right, names[1])
    by_key: dict[str, list[object]] = {}
    for row in right:
        by_key.setdefault(_plain(_field(row, names[1])), []).append(row)
    found: list[object] = []
    for row in left:
        for other in by_key.get(_plain(_field(row, names[0])), []):
            if isinstance(row, dict) and isinstance(other, dict):
                found.append({**other, **row})
            else:
                found.append({"left": row, "right": other})
            if len(found) > ROWS:
                raise UsageError(f"The join has more than {ROWS:,} rows.", "Filter first.")
    return found


def _count(rows: Sequence[object], by: object) -> object:
    if not by:
        return len(rows)
    counted = Counter(_plain(_field(row, by)) for row in rows)
    return dict(counted.most_common())


def _find_lines(value: object, pattern: str) -> list[str]:
    text = value if isinstance(value, str) else _plain(value)
    rule = compile_pattern(pattern)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if rule.search(line, timeout=_MATCHING):
            found.append(f"{number}: {line}")
    return found


def _sort_key(value: object) -> tuple[int, float, str]:
    """Numbers before texts, nothing last."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, _plain(value))


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise UsageError(f"{_plain(value)[:60]!r} is not a number.", "Name a field of numbers with `by`.")


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
