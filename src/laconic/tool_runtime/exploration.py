"""How something works in this code base: who does the work, from where it is reached, its rules, its data, its tests.

An overview says it in lines; a deep view has the bodies of what does the work. Plumbing (accessors, what only hands
on) comes after logic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from laconic.errors import WorkspaceError
from laconic.index.resolve import CallEdge, Code, callees, callers, related_tests
from laconic.index.search import RankedSymbol
from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.query import Scope
from laconic.index.search.task_query import TaskQuery, split_stems
from laconic.index.search.task_ranking import rank_task
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import RANKED_TYPES, VALUES, WITH_BODY
from laconic.render.compact_json import Json
from laconic.render.plural import count_of
from laconic.tool_runtime.source import body, clip_line, open_file
from laconic.tool_runtime.tool import Piece, ToolAnswer, ToolCall

_QUESTION: Final = re.compile(
    r"\s*(?:how\s+(?:do(?:es)?|is|are|can)\b.*\b(?:work|works|done|handled|implemented|organi[sz]ed|structured)\b"
    r"|explain\b|overview of\b|(?:give|show)\b.*\boverview\b|what happens (?:when|if)\b)",
    re.IGNORECASE | re.DOTALL,
)
_FILLER: Final = re.compile(
    r"\b(?:how|do|does|is|are|can|work|works|here|this|code|base|project|explain|overview|give|show|me|what|happens"
    r"|when|handled|implemented|organi[sz]ed|structured|done)\b",
    re.IGNORECASE,
)
_RANKED: Final = 60  # symbols that are looked at
_LOGIC: Final = 7  # functions that do the work
_WAYS: Final = 4  # paths from outside
_STEPS: Final = 4  # of one path
_RULES: Final = 8
_DATA: Final = 6
_TESTS: Final = 5
_FIELDS: Final = 8  # members of a type that are named
_PLUMBING: Final = 4  # lines of a function that only hands something on
_WIRING: Final = re.compile(
    r"(?:get|set|is|with|configure|register|unregister|init|setup|to_?string|to_?dict|equals|hash_?code|__repr__|__str__)(?![a-z])",
    re.IGNORECASE,
)
_WIRING_FILE: Final = re.compile(
    r"(?:config|configuration|propert(?:y|ies)|registry|factory|builder|module)s?\.\w+$", re.IGNORECASE
)
_MENTIONED: Final = 150  # files that mention a name, above which its callers are not looked for
_RULE: Final = re.compile(
    r"\s*\}?\s*(?:(?:else\s+)?(?:if|elif|unless|when|case|guard)\b.*(?:[:{(),;&|]|\bthen|\bdo)\s*$|raise\b|throw\b|assert\b|return\s+Err\b)"
)
_WIDEST: Final = 110


def is_exploring(task: str) -> bool:
    """Whether a text asks how something works, rather than for a change."""
    return len(task) < 200 and _QUESTION.match(task) is not None


def explore(call: ToolCall, subject: str, *, deep: bool) -> ToolAnswer | None:
    """The answer on a subject; None where the code says nothing of it."""
    wanted = " ".join(_FILLER.sub(" ", subject).split()) or subject
    store = call.runtime.index.store
    files = TaskFiles(TaskQuery(store, wanted), _line_reader(call))
    rows = []
    for row in rank_task(store, files, Scope())[:_RANKED]:
        if row.symbol is not None and row.file_class not in {"test", "doc"} and not row.symbol.test:
            rows.append(row)
    found = _Subject(call, files.query, rows)
    if not found.logic:
        return None
    pieces = [
        *_logic(call, found, deep=deep),
        *_ways(call, found),
        *_rules(found, files),
        *_data(call, found),
        *_tests(found),
    ]
    paths = tuple(dict.fromkeys(row.path for row in found.logic))
    head = f"{wanted}: {count_of(len(found.logic), 'function')} in {count_of(len(paths), 'file')} do the work\n"
    return ToolAnswer(
        pieces=pieces,
        kind="overview",
        head=head,
        unit="entries",
        paths=paths,
        spread=3.0 if deep else 50.0,
        grouped=False,
    )


def _line_reader(call: ToolCall) -> Callable[[str], Sequence[str]]:
    def read_lines(path: str) -> Sequence[str]:
        try:
            return open_file(call, path).lines
        except WorkspaceError:
            return ()  # gone since it was indexed

    return read_lines


class _Subject:
    """What was found on a subject: functions that do the work, and types and values that hold its data."""

    def __init__(self, call: ToolCall, query: TaskQuery, rows: Sequence[RankedSymbol]) -> None:
        functions = _drop_copies(row for row in rows if row.symbol is not None and row.symbol.kind in WITH_BODY)
        chosen = sorted(functions[: 4 * _LOGIC], key=_is_plumbing)[:_LOGIC]
        files = list(dict.fromkeys(row.path for row in chosen))
        self.logic = sorted(chosen, key=lambda row: files.index(row.path))
        self.data = []
        for row in rows:
            if (
                row.symbol is not None
                and row.symbol.kind in RANKED_TYPES | VALUES
                and _names_subject(row.symbol, query)
            ):
                self.data.append(row)
        self.code: Code = call.runtime.code


def _drop_copies(rows: Iterable[RankedSymbol]) -> list[RankedSymbol]:
    """Without what stands in a file of the same name a second time: modules are copied and adapted."""
    found: dict[tuple[str, str], RankedSymbol] = {}
    for row in rows:
        assert row.symbol is not None
        found.setdefault((row.symbol.qualified, row.path.rpartition("/")[2]), row)
    return list(found.values())


def _is_plumbing(row: RankedSymbol) -> bool:
    """Whether a function only hands something on, sets something up or writes something out."""
    if row.symbol is None or row.symbol.end - row.symbol.line < _PLUMBING:
        return True
    return _WIRING.match(row.symbol.name) is not None or _WIRING_FILE.search(row.path) is not None


def _names_subject(symbol: Symbol, query: TaskQuery) -> bool:
    return any(word in query.words for word in split_stems(symbol.name))


def _logic(call: ToolCall, found: _Subject, *, deep: bool) -> Iterator[Piece]:
    """The functions that do the work: a line each, or their bodies."""
    for row in found.logic:
        assert row.symbol is not None
        piece = body(call, open_file(call, row.path), row.symbol, group=row.path)
        said = row.symbol.doc.strip().split("\n")[0]
        owner = row.symbol.qualified.removesuffix(row.symbol.name).rstrip(".:#/")
        first = piece.texts[0]
        if owner:
            first = f"{first[:-1]} in {owner}\n"
        if said:
            first = f"{first[:-1]}  # {said[:_WIDEST]}\n"
        texts: tuple[str, ...] = (first,)
        if deep:
            texts = (first, *piece.texts[1:])
        sent = piece.sent if deep and len(texts) == len(piece.texts) else None
        yield Piece(texts=texts, group=row.path, order=piece.order, record=piece.record, sent=sent)


class _Way(NamedTuple):
    """A path of calls from outside to a function of the subject."""

    steps: tuple[Symbol, ...]
    sure: bool


def _ways(call: ToolCall, found: _Subject) -> Iterator[Piece]:
    """From where the work is reached: the longest sure paths up to what nobody of the sources calls."""
    told: set[int] = set()
    for row in found.logic:
        assert row.symbol is not None
        if len(told) >= _WAYS or row.symbol.id in told:
            continue
        way = _climb(call, found.code, row.symbol)
        if len(way.steps) < 2:
            continue
        told.update(step.id for step in way.steps)
        steps = [_label(found.code, step) for step in reversed(way.steps)]
        doubt = "" if way.sure else " (a step is only possible)"
        record: dict[str, Json] = {"what": "path", "steps": list(steps), "sure": way.sure}
        yield Piece((f"reached by: {' -> '.join(steps)}{doubt}\n",), record=record)
    for row in found.logic[:2]:
        assert row.symbol is not None
        used = [_label(found.code, step.symbol) for step in callees(found.code, row.symbol) if step.sure][:_STEPS]
        if used:
            yield Piece(
                (f"{row.symbol.qualified} uses: {', '.join(used)}\n",), record={"what": "uses", "items": [*used]}
            )


def _climb(call: ToolCall, code: Code, symbol: Symbol) -> _Way:
    """From a function to its callers, as far as one outside the tests leads."""
    steps, sure = [symbol], True
    while len(steps) <= _STEPS:
        if len(call.runtime.index.store.files_mentioning(steps[-1].name)) > _MENTIONED:
            break
        edges = [edge for edge in callers(code, steps[-1]) if _is_source(code, edge) and edge.symbol not in steps]
        edges.sort(
            key=lambda edge: (not edge.sure, edge.symbol.name.startswith("__"), edge.symbol.kind == "constructor")
        )
        if not edges:
            break
        sure = sure and edges[0].sure
        steps.append(edges[0].symbol)
    return _Way(tuple(steps), sure)


def _is_source(code: Code, edge: CallEdge) -> bool:
    source = code.sources.get(edge.symbol.file)
    return source is not None and source.file_class == "source" and not edge.symbol.test


def _label(code: Code, symbol: Symbol) -> str:
    """A name and where it stands; the name is what a next call takes, so the folder is left out."""
    return f"{symbol.qualified} {code.sources[symbol.file].path.rpartition('/')[2]}:{symbol.line}"


def _rules(found: _Subject, files: TaskFiles) -> Iterator[Piece]:
    """Conditions and errors that speak of the subject, by how much they say of it."""
    rules: list[tuple[float, str, int, str]] = []
    for row in found.logic:
        assert row.symbol is not None
        file = files[row.path]
        for line in range(row.symbol.line + 1, min(row.symbol.end, len(file.lines)) + 1):
            text = file.lines[line - 1]
            if _RULE.match(text) and file[line].worth:
                rules.append((file[line].worth, row.path, line, clip_line(text.strip())[:_WIDEST]))
    rules.sort(key=lambda rule: (-rule[0], rule[1], rule[2]))
    for _, path, line, text in sorted(rules[:_RULES], key=lambda rule: (rule[1], rule[2])):
        record: dict[str, Json] = {"what": "rule", "path": path, "line": line, "text": text}
        yield Piece((f"rule {path}:{line} {text}\n",), record=record)


def _data(call: ToolCall, found: _Subject) -> Iterator[Piece]:
    """Types and values that are called after the subject, with what they hold."""
    for row in found.data[:_DATA]:
        assert row.symbol is not None
        named = _join(_held_names(call, row.path, row.symbol))
        holds = ""
        if named:
            holds = f": {named}"
        record: dict[str, Json] = {
            "what": "data",
            "name": row.symbol.qualified,
            "path": row.path,
            "line": row.symbol.line,
        }
        yield Piece(
            (f"data {row.symbol.kind} {row.symbol.qualified} {row.path}:{row.symbol.line}{holds}\n",), record=record
        )


def _held_names(call: ToolCall, path: str, symbol: Symbol) -> Iterator[str]:
    for member in call.runtime.index.store.symbols_of_path(path):
        if member.parent == symbol.id and member.kind not in WITH_BODY:
            yield member.name


def _tests(found: _Subject) -> Iterator[Piece]:
    """Files of tests that come near."""
    near: dict[str, None] = {}
    for row in found.logic[:3]:
        assert row.symbol is not None
        for _, test in related_tests(found.code, row.symbol):
            near.setdefault(found.code.sources[test.file].path)
    if near:
        yield Piece((f"tests: {', '.join(list(near)[:_TESTS])}\n",), record={"what": "tests", "items": list(near)})


def _join(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _FIELDS} more" if len(found) > _FIELDS else ""
    return ", ".join(found[:_FIELDS]) + more
