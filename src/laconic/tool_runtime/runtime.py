"""The code plane of one workspace: the one place where a call enters and its answer leaves.

Arguments are understood, budgets decided, errors worded, answers composed and counted here, so that no tool has to.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from laconic.config import Settings
from laconic.errors import IndexUnavailable, LaconicError, NotAllowed, RecallFailed, UnknownName, UsageError
from laconic.index.build import Progress
from laconic.index.choose_parser import choose_parser
from laconic.index.resolve import Code
from laconic.index.resolve.joined_code import JoinedCode
from laconic.index.workspace_index import Index
from laconic.records import Span
from laconic.render.compact_json import dump
from laconic.render.escape_control import visible
from laconic.render.plural import count_in
from laconic.sessions.archive import Archive
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.tokens.count import Counter, counter
from laconic.tool_runtime.arguments import clean, understand, usage
from laconic.tool_runtime.budget import limit, read_budgets
from laconic.tool_runtime.compose import ComposedAnswer, compose, cut_to, longest, put_outsized_last
from laconic.tool_runtime.continuation import write_call, write_command
from laconic.tool_runtime.edit_workspace import EditWorkspace
from laconic.tool_runtime.session import Session
from laconic.tool_runtime.several_workspaces import ask_workspaces
from laconic.tool_runtime.tool import (
    AGAIN,
    AT,
    BUDGET,
    FORMAT,
    OFFSET,
    WORKSPACE,
    Piece,
    Tool,
    ToolAnswer,
    ToolCall,
    Value,
)
from laconic.tool_runtime.workspaces import MARK, Workspaces
from laconic.workspace.secrets import SecretFiles

_UNUSABLE: Final = (IndexUnavailable, sqlite3.Error, OSError)  # what an index on disk may raise
_PATIENCE: Final = 2.0  # seconds
_OTHERS: Final = 30.0  # seconds that a command waits for another process that is writing the index
_REFUSAL: Final = 1_000  # tokens of an answer that says what is wrong
_HOW: Final = frozenset({BUDGET.name, FORMAT.name, OFFSET.name, AGAIN.name})  # arguments that ask for nothing else
_NOTHING: Final = "(nothing to show)\n"
_LONGEST: Final = 300  # characters of an argument that is worth writing out again
_KEPT: Final = "@"  # stands before the reference of one that is kept instead
_REFERENCE: Final = re.compile(r"@[a-z0-9]{4,32}")
_TROUBLE: Final = "The answer could not be made: {}. Call again; if it stays so, `laconic doctor` says what is wrong."


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a call comes to."""

    text: str
    tokens: int
    failed: bool = False


class ToolRuntime:
    """Tools over one workspace. Use it from one thread."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        tools: Mapping[str, Tool],
        *,
        shell: bool = False,
        flags: Sequence[str] = (),
        editing: bool = True,
        progress: Progress | None = None,
        prefix: str = "",
        open_index: Callable[[], Index] | None = None,
        workspaces: Workspaces | None = None,
    ) -> None:
        self.root = root.resolve()
        self._open_index = open_index or self._open_own_index
        self.prefix = prefix  # of its paths in the answers of a session that works in another workspace
        self.joined: JoinedCode | None = None  # the workspaces that were last read together
        self._progress = progress  # told how far a build is that a command waits for
        self.tools = tools
        self.editing = editing  # whether files may be changed; if not, nothing is kept for later edits either
        self.shell = shell  # answers are read in a terminal: ready calls are commands
        self._flags = tuple(flags)  # options that such commands repeat
        self.settings = settings
        self.cache = settings.cache_dir()
        self.secrets = SecretFiles.of(settings)
        self._index: Index | None = None
        self._trouble = ""  # what is wrong with it
        self._due = False  # whether it must be brought up to date before it is used
        self._lag = ""  # what it may lack
        self._count: Counter | None = None
        self._calls: ToolCallLog | None = None
        self._edits: EditWorkspace | None = None
        self._code: Code | None = None
        self._workspaces = workspaces

    @property
    def workspaces(self) -> Workspaces:
        """All code bases that are indexed here."""
        if self._workspaces is None:
            self._workspaces = Workspaces(self, self._open_other)
        return self._workspaces

    @property
    def index(self) -> Index:
        """The index, opened on first use, up to date in every call; in memory where the cache folder takes none."""
        if self._due:
            self._bring_up_to_date()
        if self._index is None:
            try:
                self._index = self._open_index()
            except _UNUSABLE as error:
                return self._index_in_memory(error)
        return self._index

    def _open_own_index(self) -> Index:
        return Index.open(self.root, self.cache, choose_parser(self.settings), secrets=self.secrets)

    @property
    def code(self) -> Code:
        """What refers to what; reads the index."""
        if self._code is None:
            self._code = Code(self.index.store, self.root)
        return self._code

    @property
    def archive(self) -> Archive:
        """What was left out of answers and conversations."""
        return Archive.of(self.settings)

    @property
    def count(self) -> Counter:
        """The counter, with its vocabulary loaded on first use."""
        if self._count is None:
            self._count = counter(self.settings.text("model"))
        return self._count

    @property
    def edits(self) -> EditWorkspace:
        """Where files are edited, opened on first use."""
        if self._edits is None:
            self._edits = EditWorkspace(self.root, self.cache, self.secrets)
        return self._edits

    def close(self) -> None:
        for opened in (self._index, self._calls, self._edits, self._workspaces):
            if opened is not None:
                opened.close()

    def call(
        self, name: str, given: Mapping[str, object], session: Session | None = None, host: int | None = None
    ) -> ToolReply:
        """Answer one call; failures come back as an answer that says how to go on."""
        session, name = session or Session(), clean(name)[:_LONGEST]
        session.begin()
        started = time.perf_counter()
        tokens, failed, repaired, cut = 0, False, False, ""
        try:
            tool = find(name, self.tools)
            name = tool.name  # calls by a guessed name count as calls of the tool
            if tool.writes and not self.editing:
                raise NotAllowed(f"{tool.name} is turned off.", "Start the server with --edit to allow it.")
            arguments = understand(tool, given)
            repaired = bool(arguments.repaired)
            allowed = self._limit(tool, str(arguments.values.get("budget") or ""), session, host)
            values = self._read_kept(arguments.values)
            composed = self._answer(ToolCall(self, session, values, allowed), tool, arguments.ignored, host)
            text, tokens, cut = clean(composed.text) or _NOTHING, composed.tokens, composed.cut
            failed = composed.failed
        except (LaconicError, sqlite3.Error, OSError) as error:
            failed = True
            if isinstance(error, UnknownName) and self._lag:
                error.fix = f"It may not be indexed yet: {self._lag}. Ask again in a moment. {error.fix}"
            text = clean(self._refusal(error, given, host))
            tokens = self.count(text)
        finally:
            session.end(tokens)
        self._record(name, tokens, (time.perf_counter() - started) * 1000, failed=failed, repaired=repaired, cut=cut)
        return ToolReply(text, tokens, failed)

    def _limit(self, tool: Tool, wish: str, session: Session, host: int | None) -> int:
        own = read_budgets(self.settings.patterns("budgets"))
        default = own.get(tool.name) or self.settings.number("budget") or tool.budget
        return limit(wish, default, pressure=session.pressure, host=host, batch=session.batch_left)

    def _answer(self, call: ToolCall, tool: Tool, ignored: tuple[str, ...], host: int | None) -> ComposedAnswer:
        self._due, self._lag = tool.indexed, ""
        if tool.indexed and not tool.seldom:
            self._bring_up_to_date(call.question)
        answer = self._run(call, tool)
        asked = tool.indexed and not self._due
        self._due = False
        if asked and answer.paths and self.has_changed(answer.paths):
            answer = self._run(call, tool)
        if self._lag:
            notes = [f"({self._lag}; the answer may lack something)"]
        else:
            notes = []
        notes += [f"({self._trouble} `laconic doctor` says more.)"] if self._trouble and asked else []
        notes += [f"(not understood, left aside: {', '.join(ignored)}. {usage(tool)})"] if ignored else []
        notes += [f"({said})"] if (said := call.session.describe_pressure()) else []
        skipped = max(0, call.number("offset"))
        page = _page(answer, skipped, "".join(f"{note}\n" for note in notes))
        page, places = _unsaid(page, tool, call)
        composed = compose(
            page,
            call.limit,
            self.count,
            json=call.text("format") == "json",
            more=lambda start: self._continue(tool, call, {OFFSET.name: skipped + places[start]}),
            widen=lambda needed: self._widen(tool, call, needed, host),
        )
        if composed.cut != "net":
            self._note_sent(page, composed, call.session)
            for index, level in composed.shown:
                if level == len(page.pieces[index].texts) - 1:
                    call.session.tell(_key(tool, call, page.pieces[index]))
        return composed

    def _run(self, call: ToolCall, tool: Tool) -> ToolAnswer:
        named, commit = call.text(WORKSPACE.name), call.text(AT.name)
        if not named and self._workspaces is not None and WORKSPACE.name in tool.fields and not tool.seldom:
            named = self._workspaces.default
        if tool.manages or not (named or commit):
            return tool.run(call)
        if named and not self.settings.flag("index.others"):
            raise NotAllowed("Other workspaces are turned off.", "The setting index.others allows them.")
        asked = self.workspaces.select(named, tool, call) if named else [self]
        if commit:
            asked = [self._open_commit(asked, commit)]
        return ask_workspaces(tool, call, asked)

    def _open_commit(self, asked: Sequence[ToolRuntime], commit: str) -> ToolRuntime:
        if len(asked) > 1:
            raise UsageError("`at` names a commit of one workspace.", "Name one in `workspace`, or none.")
        opened = self.workspaces.open_commit(asked[0], commit)
        opened._bring_up_to_date()
        self._lag = opened._lag or self._lag
        return opened

    def _open_other(self, root: Path, prefix: str) -> ToolRuntime:
        return ToolRuntime(root, self.settings, self.tools, shell=self.shell, editing=False, prefix=prefix)

    def find_place(self, path: str) -> tuple[ToolRuntime, str]:
        """The workspace of a path in a call or an answer, and the path in it."""
        if self.prefix and path.startswith(self.prefix):
            return self, path.removeprefix(self.prefix)
        if not self.prefix and path.startswith(MARK) and self.settings.flag("index.others"):
            return self.workspaces.find_path(path) or (self, path)
        return self, path

    def follow(self, until: float) -> None:
        """Let the index of another workspace follow the disk, unless the time of the thread is up."""
        if not self.prefix or time.thread_time() > until:
            return
        with suppress(*_UNUSABLE):
            self.index.refresh(patience=0)

    def write_call(self, tool: Tool, given: Mapping[str, Value]) -> str:
        """A call as the reader of this answer can make it."""
        if self.shell:
            return write_command(tool, given, self._flags)
        return write_call(tool, given)

    def _widen(self, tool: Tool, call: ToolCall, needed: int, host: int | None) -> str:
        """The same call with a budget that shows something whole; empty where the asker cannot have that much."""
        if self._limit(tool, str(needed), Session(), host) < needed:
            return ""
        given: dict[str, Value] = {BUDGET.name: needed}
        if skipped := max(0, call.number("offset")):
            given[OFFSET.name] = skipped
        return self._continue(tool, call, given)

    def _continue(self, tool: Tool, call: ToolCall, changed: Mapping[str, Value]) -> str:
        """The call that goes on where this answer ends, or where there is hardly room for it what to add to this one.

        A long text is kept, and named by its reference.
        """
        given: dict[str, Value] = {}
        for name in [*(argument.name for argument in tool.arguments), BUDGET.name, FORMAT.name]:
            value = call.values.get(name)
            if value in (None, "", [], False) or value == tool.fields[name].default:
                continue
            if isinstance(value, str) and len(value) > _LONGEST:
                value = f"{_KEPT}{self.archive.put(str(self.root), tool.name, value.encode(), f'{name} of a call')}"
            if name == BUDGET.name and isinstance(value, str) and value.isdigit():
                value = int(value)
            given[name] = value
        whole = self.write_call(tool, {**given, **changed})
        if self.count(whole) * 3 <= call.limit:
            return whole
        if self.shell:
            return " ".join(f"--{name}={value}" for name, value in changed.items())
        return ", ".join(f"{name}={value}" for name, value in changed.items())

    def _read_kept(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values of a call; a reference to a text that was kept stands for the text."""
        read = dict(values)
        for name, value in values.items():
            if isinstance(value, str) and _REFERENCE.fullmatch(value):
                with suppress(RecallFailed):
                    read[name] = self.archive.get(value.removeprefix(_KEPT)).decode("utf-8", "replace")
        return read

    def _bring_up_to_date(self, asked: Sequence[str] = ()) -> None:
        """Let the index follow the disk, once a call, first what was asked for; note what the answer must say of it."""
        self._due = False
        if self._index is not None and self._index.store.is_removed:
            self._forget_index()
        try:
            if self.shell:
                self._lag = self._build()
            else:
                self.index.prefer(asked)
                self._lag = self._refresh()
            if self.index.trouble:
                raise IndexUnavailable(f"{self.index.trouble}.")
        except _UNUSABLE as error:
            self._do_without(error)
            if not self.index.store.kept:
                self._lag = self.index.refresh()
            else:
                self._lag = ""

    def _build(self) -> str:
        """For a command, which asks once: complete, however long that takes; another writer is waited for."""
        locked = self.index.store.kept and self.index.build(self._progress, seconds=_OTHERS).locked
        if locked or not self.index.store.kept:
            return self.index.refresh()
        return ""

    def _refresh(self) -> str:
        """For a server: a build that ends soon is waited for, a longer one is said to be under way."""
        until = time.monotonic() + _PATIENCE
        while (lag := self.index.refresh()) and time.monotonic() < until and not self.index.trouble:
            time.sleep(0.02)
        return lag

    def has_changed(self, paths: Sequence[str]) -> bool:
        """Whether files that an answer quotes changed since they were indexed; they are indexed again then."""
        own: list[str] = []
        others = False
        for path in paths:
            runtime, inner = self.find_place(path)
            if runtime is self:
                own.append(inner)
            else:
                others = runtime.has_changed([inner]) or others
        try:
            return self.index.ensure(own) or others
        except _UNUSABLE as error:
            self._do_without(error)
            return not self.index.store.kept

    def _do_without(self, error: Exception) -> None:
        """Answer from the index as it is when it cannot be written; where there is none, from one in memory."""
        if self._index is not None and self._index.store.kept and self._index.store.meta("built"):
            self._trouble = f"The index is not up to date: {error}"
        else:
            self._index_in_memory(error)

    def _index_in_memory(self, error: Exception) -> Index:
        self._forget_index()
        self._trouble = f"The index is not kept: {error}"
        self._index = Index.in_memory(self.root, self.secrets)
        return self._index

    def _forget_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = self._code = None

    def _note_sent(self, page: ToolAnswer, composed: ComposedAnswer, session: Session) -> None:
        """Remember which lines the client has now: for later answers, and for edits that name them."""
        for index, level in composed.shown:
            sent = page.pieces[index].sent
            spans: tuple[Span, ...] = ()
            if sent is not None and not sent.path.startswith(MARK):
                spans = sent.at(level)
            if sent is None or not spans:
                continue
            for span in spans:
                lines = range(span.start, span.end + 1)
                if sent.before:
                    session.forget(sent.path, sent.source.tag, lines)
                else:
                    session.receive(sent.path, sent.source.tag, lines, numbered=sent.numbered)
            if self.editing and not sent.before:
                with suppress(LaconicError, sqlite3.Error, OSError):  # an edit of them will ask for a fresh read
                    self.edits.snapshots.remember(sent.path, sent.source, spans)

    def _refusal(self, error: Exception, given: Mapping[str, object], host: int | None) -> str:
        """What went wrong and how to go on, within the budget of the call."""
        if isinstance(error, LaconicError):
            said = str(error)
        else:
            said = _TROUBLE.format(error)
        try:
            wish = given.get("budget")
            allowed = limit(str(wish) if isinstance(wish, str | int) else "", _REFUSAL, host=host)
        except (UsageError, ValueError):
            allowed = _REFUSAL
        allowed = min(allowed, _REFUSAL)
        form = given.get("format")
        if isinstance(form, str) and form.lower() == "json":
            return longest(
                lambda size: dump({"error": said[:size]}), min(len(said), 40 * allowed), allowed, self.count
            )
        text = visible(f"error: {said}\n")
        if self.count(text) <= allowed:
            return text
        return cut_to(text, allowed, self.count)

    def _record(self, name: str, tokens: int, milliseconds: float, *, failed: bool, repaired: bool, cut: str) -> None:
        try:
            if self._calls is None:
                self._calls = ToolCallLog(self.cache)
            self._calls.record(name, tokens, milliseconds, failed=failed, repaired=repaired, cut=cut)
        except (LaconicError, sqlite3.Error, OSError):
            self._calls = None  # figures are lost, the answer is not


def find(name: str, known: Mapping[str, Tool]) -> Tool:
    """The tool of a name, or of a name that agents guess for it."""
    plain = name.lower().removeprefix("laconic").strip("_.:-").replace("-", "_")
    for tool in known.values():
        if plain == tool.name or plain in tool.aliases.split():
            return tool
    for tool in known.values():
        if plain in tool.instead.split():
            raise UnknownName("tool", name, (tool.name,), f"For the rest run git itself. {usage(tool)}")
    near = tuple(get_close_matches(plain[:60], known, n=3, cutoff=0.3)) or tuple(known)
    raise UnknownName("tool", name[:60], near)


def _page(answer: ToolAnswer, skipped: int, notes: str) -> ToolAnswer:
    """The answer from a piece on, with the notes that every tool can get."""
    ordered = list(answer.pieces)
    if answer.grouped:
        ordered = put_outsized_last(ordered)
    total = max(answer.total or 0, len(ordered)) - skipped
    if total <= 0 and answer.pieces:
        notes += f"({answer.unit} end at {total + skipped}: offset {skipped} is beyond them)\n"
    return replace(
        answer,
        pieces=ordered[skipped:],
        note=answer.note + notes,
        total=total if answer.total is not None or skipped else None,
        skipped=skipped,
    )


def _unsaid(page: ToolAnswer, tool: Tool, call: ToolCall) -> tuple[ToolAnswer, list[int]]:
    """The answer without what the same question got before in this session, and where its pieces were in the whole."""
    places = list(range(len(page.pieces) + 1))
    if call.flag(AGAIN.name):
        return page, places
    fresh: list[int] = []
    said: list[int] = []
    for at, piece in enumerate(page.pieces):
        if not _is_remembered_by_line(piece) and call.session.was_told(_key(tool, call, piece)):
            said.append(at)
        else:
            fresh.append(at)
    if not said:
        return page, places
    for at in said:
        call.session.untell(_key(tool, call, page.pieces[at]))
    note = f"({count_in(len(said), page.unit)} as shown above; again=true repeats it)\n"
    if page.total is None:
        total = len(page.pieces)
    else:
        total = page.total
    pieces = []
    for at in fresh:
        pieces.append(page.pieces[at])
    places = [*fresh, len(page.pieces)]
    return replace(page, pieces=pieces, note=note + page.note, total=total, reached=tuple(places)), places


def _is_remembered_by_line(piece: Piece) -> bool:
    """Whether the session knows line by line what of a piece it has sent."""
    return piece.sent is not None and (piece.sent.numbered or piece.sent.before)


def _key(tool: Tool, call: ToolCall, piece: Piece) -> int:
    """A question and a piece of its answer."""
    asked = []
    for name, value in call.values.items():
        if name not in _HOW:
            asked.append((name, str(value)))
    return hash((tool.name, *sorted(asked), piece.group, piece.texts[-1]))
