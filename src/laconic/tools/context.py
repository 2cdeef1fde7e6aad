"""`context`: a task in words, answered with the code that it is about: the function to change, who calls it, its tests,
the lines that matter elsewhere, and names of where to look.

A file stands once in an answer, the best first: its code, then further names. What was shown is not named again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from laconic.errors import WorkspaceError
from laconic.index.resolve import callers
from laconic.index.search import RankedSymbol
from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.line_scores import score_lines
from laconic.index.search.query import Filters, resolve_scope, split_globs
from laconic.index.search.task_query import TaskQuery
from laconic.index.search.task_ranking import rank_task
from laconic.index.search.workspace_weight import weigh_words
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import WITH_BODY
from laconic.records import Span
from laconic.reduce.line_choice import ChosenLines, CodeBlock, LineChoice, Place, join_runs
from laconic.render.compact_json import Json
from laconic.tool_runtime.code_blocks import CodeBlocks
from laconic.tool_runtime.exploration import explore, is_exploring
from laconic.tool_runtime.source import OpenedFile, clip_line, open_file, whole_spans
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, SentLines, Tool, ToolAnswer, ToolCall

_RANKED: Final = 400  # symbols that can be named
_FOOTER: Final = 60  # tokens of the last line, and of those on callers and tests
_LONGEST: Final = 40_000  # characters of a task that are read
_NO_WORD: Final = re.compile(r"\S{300,}")  # data that was pasted
_SHOW: Final = ("detail", "mode", "form", "view")
_VIEWS: Final = frozenset({"overview", "deep"})  # of how something works
_SAYS: Final = re.compile(r"\w")  # a line that does more than close what is open
_LINE: Final = 60  # characters of a definition line: enough to know it by; a word is not cut
_KNOWN: Final = 5  # lines of a function by which it is known
_WHOLE: Final = 0.35  # of the room for code that the best function may take whole
_DOCUMENTED: Final = 2_500  # tokens of room for code from which on lines of docstrings are shown too
_IMPORTING: Final = 700  # tokens of room for code from which on imports are shown: changes often touch them
_ROUNDS: Final = 3  # of choosing lines in such a room: together they cost less than one by one
_NEAR: Final = 6  # lines between two that stand outside of definitions and are shown together
_MENTIONED: Final = 150  # files that mention a name, above which its callers are not looked for
_CALLERS: Final = 3
_EVERYWHERE: Final = frozenset({"__init__", "constructor", "new", "init", "__call__"})  # they say nothing alone
# Of so many tokens so many are for names: few are worth more than a little code, many are not.
_NAMES: Final = ((1_000, 680), (2_000, 780), (4_000, 1_500), (8_000, 1_900), (10_000, 2_000))


def run(call: ToolCall) -> ToolAnswer:
    task = _NO_WORD.sub(" ", call.text("task")[:_LONGEST])
    show = call.text("show")
    if show in _VIEWS or (show in {"", "both"} and is_exploring(task)):
        found = explore(call, task, deep=show == "deep")
        if found is not None:
            return found
    store = call.runtime.index.store
    scope = resolve_scope(store, Filters(paths=split_globs(call.text("path"))))
    files = _Files(call)
    task_files = TaskFiles(TaskQuery(store, task), files.lines)
    rows = []
    for row in rank_task(store, task_files, scope)[:_RANKED]:
        if files.get(row.path) is not None:
            rows.append(row)
    if not rows:
        note = f"nothing in this code base resembles the task; try {call.ready('map')}\n"
        return ToolAnswer([], "context", note=note, unit="places")
    names_room, code_room = _split_room(call.limit - _FOOTER, call.text("show"))
    chosen = ChosenLines()
    if code_room > 0:
        worth = score_lines(rows, task_files, store.symbols_of_path)
        chosen = _choose_lines(call, files, rows, worth, code_room)
    pieces, rest = _lay_out(call, files, rows, chosen, names_room + max(0, code_room - chosen.used))
    if not pieces and chosen.spared:
        hint = call.session.hint("again=true repeats it")
        note = f"all lines that matter were shown above{f' ({hint})' if hint else ''}\n"
        return ToolAnswer([], "context", note=note, unit="places")
    return ToolAnswer(
        pieces=[*pieces, *rest],
        kind="context",
        unit="places",
        paths=tuple(dict.fromkeys(piece.group for piece in pieces)),
        spread=1_000.0,
        grouped=False,
    )


def _split_room(room: int, show: str) -> tuple[int, int]:
    """Tokens for names and tokens for code."""
    if show == "names":
        return room, 0
    if show == "code":
        return 0, room
    before, names_before = 0, 0
    for limit, names in _NAMES:
        if room <= limit:
            share = (room - before) / (limit - before)
            wanted = int(names_before + share * (names - names_before))
            return wanted, room - wanted
        before, names_before = limit, names
    return names_before, room - names_before


def _choose_lines(
    call: ToolCall, files: _Files, rows: Sequence[RankedSymbol], worth: dict[Place, float], room: int
) -> ChosenLines:
    """The best function, whole where it is short, then the lines that are worth most anywhere."""
    blocks = CodeBlocks(call.runtime.index.store, files.lines)
    useful = {}
    for place, value in worth.items():
        if blocks.is_preamble(place) or blocks.is_comment_above(place):
            continue
        if room < _IMPORTING and blocks.is_import(place):
            continue
        if room >= _DOCUMENTED or not blocks.is_docstring(place):
            useful[place] = value
    choice = LineChoice(useful, blocks.find, files.lines, call.runtime.count, files.is_known)
    best = next((row for row in rows if row.symbol is not None and row.symbol.kind in WITH_BODY), None)
    if best is not None and best.symbol is not None:
        choice.take_block(blocks.find((best.path, best.symbol.line)), int(room * _WHOLE))
    for _ in range(_ROUNDS if room >= _DOCUMENTED else 1):
        choice.take(room)
        choice.chosen.used = choice.chosen.spared + _measure(call, files, choice.chosen)
    return choice.chosen


def _measure(call: ToolCall, files: _Files, chosen: ChosenLines) -> int:
    """What the chosen lines cost as they are printed."""
    printed: list[str] = []
    lines = _join_loose(chosen.lines)
    for block, numbers in lines.items():
        piece = _code(call, files, block, numbers)
        if piece is not None:
            printed.append(piece.texts[0])
    for path in dict.fromkeys(block.path for block in lines):
        printed.append(f"{path}\n")
    return call.runtime.count("".join(printed))


def _lay_out(
    call: ToolCall,
    files: _Files,
    rows: Sequence[RankedSymbol],
    chosen: ChosenLines,
    room: int,
) -> tuple[list[Piece], list[Piece]]:
    """The pieces of an answer, file by file, and the names for which there is no room."""
    shown: dict[str, list[Piece]] = {}
    best = next(iter(chosen.lines), None)
    lines = _join_loose(chosen.lines)
    for block in sorted(lines, key=lambda block: (block != best, block.span.start)):
        piece = _code(call, files, block, lines[block])
        if piece is not None:
            shown.setdefault(block.path, []).append(piece)
            if block == best:
                shown[block.path] += _surroundings(call, rows, block)
    seen = {
        path: [span for piece in pieces if piece.sent for span in piece.sent.spans] for path, pieces in shown.items()
    }
    names: dict[str, list[Piece]] = {}
    rest: list[Piece] = []
    used = 0
    for row in rows:
        if call.text("show") == "code":
            break
        if row.symbol is None or _is_shown(row.symbol, seen.get(row.path, ())):
            continue
        piece = _name(row, files)
        used += call.runtime.count(piece.texts[0])
        if row.path not in shown and row.path not in names:
            used += call.runtime.count(f"{row.path}\n")
        if used > room or rest:
            rest.append(piece)
        else:
            names.setdefault(row.path, []).append(piece)
    order = dict.fromkeys([best.path] if best is not None else [])
    order |= dict.fromkeys(row.path for row in rows if row.path in shown)
    order |= dict.fromkeys([*shown, *names])
    pieces: list[Piece] = []
    for path in order:
        pieces += shown.get(path, [])
        pieces += sorted(names.get(path, []), key=lambda piece: piece.order)
    return pieces, rest


def _join_loose(chosen: Mapping[CodeBlock, set[int]]) -> dict[CodeBlock, set[int]]:
    """Lines by block; those outside of all definitions that stand near each other are one."""
    found: dict[CodeBlock, set[int]] = {}
    last: CodeBlock | None = None
    for block in sorted(chosen, key=lambda block: (block.path, block.span.start)):
        if block.signature or last is None or block.path != last.path or block.span.start > max(found[last]) + _NEAR:
            found[block] = set(chosen[block])
            last = None if block.signature else block
        else:
            found[last] |= chosen[block]
    return found


def _code(call: ToolCall, files: _Files, block: CodeBlock, lines: Iterable[int]) -> Piece | None:
    """The lines of a block that were chosen, a mark where some are missing."""
    file = files.get(block.path)
    numbers = list(lines)
    if file is None or not numbers:
        return None
    runs = join_runs(numbers, file.lines, lambda line: files.is_known(block.path, line))
    span = block.span
    if not block.signature:
        span = Span(runs[0].start, runs[-1].end)
    text = [f"{span}{block.title}"]
    last = span.start - 1
    for run in runs:
        if run.start > last + 1 and last >= span.start:
            text.append(f"{_indent(file.lines[last : run.end])}… {Span(last + 1, run.start - 1)}")
        for line in file.lines[run.start - 1 : run.end]:
            text.append(clip_line(line))
        last = run.end
    if block.signature and any(_SAYS.search(line) for line in file.lines[last : span.end]):
        text.append(f"{_indent(file.lines[last : span.end])}… {Span(last + 1, span.end)}")
    spans: list[Span] = []
    for run in runs:
        spans += whole_spans(file.lines, run)
    record: dict[str, Json] = {"path": block.path, "span": [span.start, span.end], "text": "\n".join(text[1:])}
    sent = SentLines(block.path, file.source, tuple(spans))
    return Piece(texts=("\n".join(text) + "\n",), group=block.path, order=span.start, record=record, sent=sent)


def _indent(lines: Iterable[str]) -> str:
    """The white space before the first line that has more than that."""
    for line in lines:
        if line.strip():
            return line[: len(line) - len(line.lstrip())]
    return ""


def _surroundings(call: ToolCall, rows: Sequence[RankedSymbol], block: CodeBlock) -> Iterator[Piece]:
    """Who calls the function of a block, and which tests do; nothing where half the code mentions its name."""
    symbol = _symbol_of(rows, block)
    if symbol is None or len(call.runtime.index.store.files_mentioning(symbol.name)) > _MENTIONED:
        return
    code = call.runtime.code
    edges = callers(code, symbol)
    if any(edge.sure for edge in edges):
        edges = [edge for edge in edges if edge.sure]
    used: list[str] = []
    tests: list[str] = []
    for edge in edges:
        source = code.sources.get(edge.symbol.file)
        if source is None:
            continue
        path = source.path
        if source.path == block.path:
            path = ""
        said = f"{edge.symbol.qualified} {path}:{edge.lines[0]}{'' if edge.sure else '?'}"
        if source.file_class == "test" or edge.symbol.test:
            tests.append(said)
        else:
            used.append(said)
    for title, found in (("called from", used), ("tests", tests)):
        if found:
            more = ""
            if len(found) > _CALLERS:
                more = f" and {len(found) - _CALLERS} more"
            yield Piece((f"  {title}: {', '.join(found[:_CALLERS])}{more}\n",), block.path, block.span.start)


def _symbol_of(rows: Iterable[RankedSymbol], block: CodeBlock) -> Symbol | None:
    for row in rows:
        if row.symbol is not None and row.path == block.path and row.symbol.line in block.signature:
            return row.symbol
    return None


def _is_shown(symbol: Symbol, shown: Iterable[Span]) -> bool:
    lines = 0
    for span in shown:
        if span.start <= symbol.line <= span.end:
            return True
        lines += max(0, min(symbol.end, span.end) - max(symbol.start, span.start) + 1)
    return lines >= _KNOWN


class _Files:
    """The files of an answer, each opened once."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._files: dict[str, OpenedFile | None] = {}
        self._received: dict[str, frozenset[int]] = {}

    def get(self, path: str) -> OpenedFile | None:
        if path not in self._files:
            try:
                self._files[path] = open_file(self._call, path)
            except WorkspaceError:
                self._files[path] = None  # gone since it was indexed
        return self._files[path]

    def lines(self, path: str) -> tuple[str, ...]:
        file = self.get(path)
        if file is None:
            return ()
        return file.lines

    def is_known(self, path: str, line: int) -> bool:
        """Whether the client has this line already."""
        if path not in self._received:
            file = self.get(path)
            self._received[path] = frozenset()
            if file is not None and not self._call.flag("again"):
                self._received[path] = self._call.session.received_lines(path, file.tag)
        return line in self._received[path]


def _name(row: RankedSymbol, files: _Files) -> Piece:
    """The line of a definition as it stands in the file, below its number."""
    symbol, lines = row.symbol, files.lines(row.path)
    assert symbol is not None
    source = symbol.name
    if symbol.line <= len(lines):
        source = _cut_at_word(lines[symbol.line - 1].strip())
    owner = symbol.qualified.removesuffix(symbol.name).rstrip(".:#/")
    if owner and symbol.name in _EVERYWHERE:
        source = f"{source} in {owner}"
    record: dict[str, Json] = {"path": row.path, "span": [symbol.start, symbol.end], "name": symbol.qualified}
    record["signature"] = symbol.signature
    return Piece((f"{symbol.line} {source}\n",), row.path, symbol.line, record)


def _cut_at_word(text: str) -> str:
    """The text up to the end of the word that is there when it gets long."""
    if len(text) <= _LINE:
        return text
    end = re.compile(r"\w*").match(text, _LINE)
    assert end is not None
    if end.end() >= min(len(text), _LINE + 30):
        return clip_line(text)
    return f"{text[: end.end()]}…"


TOOL = Tool(
    name="context",
    summary="Code for a task: the text of an issue, bug or feature",
    help="Pass the whole text of the task. The answer shows the function that it is most likely about with its callers"
    " and tests, the lines elsewhere that matter most, and names of further places, as many as the budget allows."
    " `show=names` or `show=code` shows only one of the two. If you ask how something works, the answer is an overview:"
    " what does the work, what calls it, its rules, data and tests (`show=deep`: with the code). Lines that this session"
    " has already received are not sent again.",
    arguments=(
        Argument(name="task", kind="text", help="", required=True, explained="the text of the issue, bug or change"),
        Argument(
            name="show",
            kind="text",
            help="",
            choices=("both", "names", "code", "overview", "deep"),
            default="both",
            listed=False,
            aliases=_SHOW,
            explained="names of places, lines of code, or both; or how something works, in lines or with its code",
        ),
        Argument(
            name="path",
            kind="text",
            help="",
            listed=False,
            aliases=("include", "folder", "glob"),
            explained="only files that this glob matches",
        ),
        replace(WORKSPACE, listed=False),
        AT,
    ),
    run=run,
    weigh=lambda call: weigh_words(call.runtime.index.store, call.text("task")[:_LONGEST]),
    budget=4_000,
    examples=('context(task="Checkout fails when the cart is empty")',),
    aliases="explore fast_explore find_logic recon get_context explain_task locate",
)
