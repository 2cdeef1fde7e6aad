"""What happened in a conversation so far, read once block by block: texts, files, names, tasks, and their turns."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Protocol

from laconic.conversation.findings import find_result
from laconic.conversation.identifiers import find_identifiers, identifiers
from laconic.conversation.ledger import Decision, Receipt, Removal
from laconic.conversation.lifetimes import Lifetimes
from laconic.conversation.task_tracking import TaskTracker, TrackedTask
from laconic.conversation.tool_use import NOTHING, ToolUse, about, find_named, is_old, is_plan
from laconic.conversation.tracked_text import Sightings, TrackedText, lists_paths
from laconic.records import FoldedRows, Passage
from laconic.reduce.passage import passage
from laconic.render.passage import passage_text
from laconic.render.tombstone import replaced_text
from laconic.wire.media import count_block
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.turns_and_blocks import At, Block, Change, SetInput, SetText

_SAID: Final = 20  # texts of the model in which a task's result is looked for
_PLACES: Final = 6  # of a name in one text
_ARGUMENT: Final = 80  # characters from which an argument of several lines is a text of its own


class Shortener(Protocol):
    """Archives a text so that a shorter one may stand in its place; None: it stays as it is."""

    def shrink(self, text: str, what: ToolUse, task: str) -> tuple[str, Receipt] | None:
        """A large output in fewer tokens; `task` is the title of the task that it belongs to."""

    def receipt_for(self, text: str, what: ToolUse, task: str) -> Receipt | None:
        """For a text that is written in another way."""


class ConversationTracker:
    """Derived state of one line of history. It can be thrown away: reading the history again gives the same."""

    def __init__(
        self,
        rules: Lifetimes,
        count: Callable[[str], int],
        task_tools: Sequence[str] = (),
        shortener: Shortener | None = None,
    ) -> None:
        self.rules = rules
        self.tasks = TaskTracker(task_tools)
        self.turn = 0
        self.order: list[str] = []
        self.place: dict[str, int] = {}
        self.sizes: dict[str, int] = {}  # tokens as sent
        self.texts: dict[str, list[TrackedText]] = {}
        self.touched: dict[str, int] = {}  # file -> turn in which a call named it
        self.changed: dict[str, int] = {}
        self.mentioned: dict[str, int] = {}  # file name -> turn in which anyone wrote it
        self.planned: dict[str, int] = {}  # file name -> turn in which the user, a plan or a task named it last
        self.written: dict[str, int] = {}  # file name -> turn in which it was last changed
        self.sent = 0  # blocks before those that this request brought
        self.cut: dict[str, int] = {}  # tokens that decisions of this request took out of blocks read before
        self._count = count
        self._shortener = shortener
        self._sightings = Sightings(rules.repeat_rows, rules.repeat_characters, rules.repeat_alone)
        self._names: dict[str, list[tuple[TrackedText, list[int]]]] = {}
        self.asked: dict[str, int] = {}  # call -> turn in which it was made
        self.lasting: set[str] = set()  # calls about tasks and reports of helpers: they are read again
        self._owner: dict[str, str] = {}  # call -> the task in progress when it was made
        self._speaking = False  # the last block was the assistant's
        self._completed: list[tuple[int, TrackedTask]] = []  # with the place of the result that said so
        self._said: deque[str] = deque(maxlen=_SAID)  # by the model since a task began or ended
        self.whole: dict[str, int] = {}  # tokens of blocks as they came
        self._below: dict[str, int] = {}  # tokens of the line below a result, for exchanges that are gone

    @property
    def tokens(self) -> int:
        return sum(self.sizes.values())

    @property
    def sent_tokens(self) -> int:
        """Tokens of what earlier requests had sent too."""
        return sum(self.sizes[key] for key in self.order[: self.sent])

    @property
    def completed(self) -> list[TrackedTask]:
        """Tasks that were completed by what this request brought, also when it is sent once more."""
        found: list[TrackedTask] = []
        for place, task in self._completed:
            if place >= self.sent:
                found.append(task)
        return found

    def extends(self, keys: Sequence[str]) -> bool:
        """Whether a history begins with all that was read."""
        return len(keys) >= len(self.order) and list(keys[: len(self.order)]) == self.order

    def begin(self, sent: int) -> None:
        """A request whose blocks from this one on are new: what is said about the request starts anew."""
        self.sent = sent
        self.cut = {}

    def read(
        self,
        conversation: ParsedRequest,
        blocks: Sequence[Block],
        calls: Mapping[At, Block],
        ingested: Mapping[tuple[str, str], Decision],
    ) -> list[Decision]:
        """Take in the next blocks; what is new to the conversation is written in its shortest form.

        `calls` says which call a result answers, `ingested` what was decided when a block was new, by block and argument.
        """
        made: list[Decision] = []
        for block in blocks:
            speaking = conversation.turns[block.turn].role == "assistant"
            self.turn += speaking and not self._speaking
            self._speaking = speaking
            self.place[block.key] = len(self.order)
            self.order.append(block.key)
            if block.kind == "call":
                self._call(block)
            elif block.kind == "result":
                call = calls.get(block.at)
                if call is not None:
                    made += self._drop_replaced(call, block, ingested)
                decision = ingested.get((block.key, ""))
                made += self._result(block, call, decision, pinned=conversation.is_pinned(block))
            else:
                self._text(block)
        return made

    def take(self, decision: Decision, in_force: Mapping[str, Decision]) -> None:
        """A decision about a block that was read before; `in_force` is all that holds for that block now."""
        for tracked in self.texts.get(decision.key, ()):
            if tracked.field == decision.field:
                tracked.ref, tracked.filed = decision.ref, decision.task
                if decision.text is not None and decision.text != tracked.base:
                    tracked.replace(decision.text, passage(decision.text))
                tracked.take(decision.runs)
        self._resize(decision.key, in_force)

    def remove(self, removal: Removal, in_force: Callable[[str], Mapping[str, Decision]]) -> None:
        """Whole exchanges are gone. A line that stands for some of them counts with the result above it."""
        for key in removal.keys:
            self._set_size(key, 0)
            for tracked in self.texts.pop(key, ()):
                tracked.shown = bytearray(len(tracked))
        if removal.below:
            self._below[removal.anchor] = removal.after
            for tracked in self.texts.get(removal.anchor, ()):
                tracked.rolled = removal.text
            self._resize(removal.anchor, in_force(removal.anchor))

    def measure_change(self, block: Block, change: Change) -> int:
        """Tokens of a block as it leaves with a change, counted on what is written."""
        escaped = b"\\u" in block.raw  # as some clients write all that is not ASCII; we do not
        if isinstance(change, SetText):
            before, after = _as_json(block.text, escaped=escaped), _as_json(change.text)
        elif isinstance(change, SetInput):
            before, after = _as_json(block.input, escaped=escaped), _as_json(change.input)
        else:
            return 0
        return max(1, self.whole[block.key] - self._count(before) + self._count(after))

    def _resize(self, key: str, in_force: Mapping[str, Decision]) -> None:
        whole = self.whole[key]
        saved = sum(_count_saved(decision, whole) for decision in in_force.values())
        self._set_size(key, max(1, whole - saved) + self._below.get(key, 0))

    def _set_size(self, key: str, size: int) -> None:
        self.cut[key] = self.cut.get(key, 0) + self.sizes[key] - size
        self.sizes[key] = size

    # calls

    def _call(self, block: Block) -> None:
        arguments = block.input
        what = about(block.name, arguments)
        self._owner[block.key] = self.tasks.current
        self._note_files(block, what)
        text = block.text
        self._edited_at(what)
        if isinstance(arguments, str):
            words = text
        else:
            words = "\n".join(_strings(arguments))
        self._note_mentions(words)
        if is_plan(what, arguments):
            self._plan(words)
        if isinstance(arguments, dict):
            for field, value in arguments.items():
                if isinstance(value, str) and len(value) >= _ARGUMENT and "\n" in value:
                    kind = "replaced" if is_old(field) else "argument"
                    tracked = self._track(block.key, field, passage(value), what=what, kind=kind)
                    tracked.task = self.tasks.current
        self._measure(block, {})

    def _note_files(self, block: Block, what: ToolUse) -> None:
        """A call names files, also one that is no longer sent."""
        self.asked[block.key] = self.turn
        if what.kind in {"task", "report"}:
            self.lasting.add(block.key)
        for file in what.files:
            self.touched[file] = self.turn
            if what.changes:
                self.changed[file] = self.turn
                self.written[file.rsplit("/", 1)[-1]] = self.turn

    def _edited_at(self, what: ToolUse) -> None:
        """What stands around an edit is likely to be edited next."""
        around = self.rules.around
        for line in what.old[:3]:
            if len(line.strip()) >= 12:
                for tracked, row in self._sightings.of(line):
                    tracked.used(row - around, row + around, self.turn)

    # results

    def _result(self, block: Block, call: Block | None, decision: Decision | None, *, pinned: bool) -> list[Decision]:
        what = about(call.name, call.input) if call else NOTHING
        text = block.text
        new = self.place[block.key] >= self.sent
        made: list[Decision] = []
        rows: Passage | None = None
        if decision is None and new and block.editable and not pinned and text:
            rows = passage(text)
            decision = self._shorten(block, text, rows, what, self._owner.get(call.key, "") if call else "")
            made = [decision] if decision else []
        for run in decision.runs if decision else ():
            for source in self.texts.get(run.source, ()):
                if source.kind != "replaced":
                    source.used(run.row, run.row + run.last - run.first, self.turn)
        if decision is not None and decision.text is not None:
            rows = passage(decision.text)
        elif rows is None:
            rows = passage(text)
        tracked = self._track(block.key, "", rows, what=what, kind=what.kind, decision=decision)
        if not block.editable:  # others may point to it, but it loses nothing
            del self.texts[block.key]
        if call is not None:
            tracked.task = self._owner.get(call.key, "")
            arguments = call.input
            if isinstance(arguments, dict) and self.tasks.is_task_tool(call.name, arguments):
                said = find_result(self._said)
                for task in self.tasks.committed(arguments, text, error=block.error, result=said):
                    self._completed.append((self.place[block.key], task))
                self._said.clear()
        self._measure(block, {"": decision} if decision else {})
        if what.kind in {"read", "report"}:
            self._remember_names(tracked)
        return made

    def _drop_replaced(
        self, call: Block, result: Block, ingested: Mapping[tuple[str, str], Decision]
    ) -> list[Decision]:
        """An edit that succeeded: the text that it replaced is in no file any more, and its first line names it."""
        made: list[Decision] = []
        for tracked in self.texts.get(call.key, ()):
            if tracked.kind != "replaced" or tracked.base is not None:
                continue
            decision = ingested.get((call.key, tracked.field))
            if decision is None and self.place[result.key] >= self.sent and call.editable and not result.error:
                decision = self._without_replaced(call, tracked)
                made += [decision] if decision else []
            if decision is not None:
                self.take(decision, {tracked.field: decision})
        return made

    def _without_replaced(self, call: Block, tracked: TrackedText) -> Decision | None:
        if isinstance(call.input, dict):
            value = call.input.get(tracked.field)
        else:
            value = None
        if self._shortener is None or not isinstance(value, str) or not tracked.about.changes:
            return None
        before = self._count(value)
        if before < self.rules.replaced_least:
            return None
        task = self.tasks.title(tracked.task)
        ref = self._shortener.receipt_for(value, tracked.about, task)
        if ref is None:
            return None
        text = replaced_text(tracked.passage.lines, ref)
        after = self._count(text)
        if after >= before * self.rules.replaced_share:
            return None
        return Decision(
            key=call.key,
            reason="ingest",
            ref=ref,
            field=tracked.field,
            text=text,
            whole=before,
            before=before,
            after=after,
            turn=self.turn,
            task=task,
        )

    def _shorten(self, block: Block, text: str, rows: Passage, what: ToolUse, owner: str) -> Decision | None:
        """Numbers without padding, paths once, repeats as pointers: nothing that the model would miss."""
        if self._shortener is None:
            return None
        task = self.tasks.title(owner)
        before = self._count(text)
        shrinks = what.kind in self.rules.shrunk or what.shell
        if shrinks and before >= self.rules.large and not lists_paths(text.split("\n")):
            short = self._shortener.shrink(text, what, task)
            if short is not None:
                after = self._count(short[0])
                if after < before * 0.9 and block.shorter(short[0]):
                    return self._entry(block, (short[1], task), before, after, text=short[0])
        runs = []
        for run, tracked in self._sightings.repeats(rows, what.files):
            runs.append(
                FoldedRows(
                    first=run.first, last=run.last, source=run.source, row=run.row, label=_label(run, tracked, what)
                )
            )
        written = passage_text(rows, runs)
        if written == text:
            return None
        after = self._count(written)
        if after >= before or not block.shorter(written):
            return None
        ref = self._shortener.receipt_for(text, what, task)
        if ref:
            return self._entry(block, (ref, task), before, after, runs=tuple(runs))
        return None

    def _entry(
        self,
        block: Block,
        filed: tuple[Receipt, str],
        before: int,
        after: int,
        *,
        text: str | None = None,
        runs: tuple[FoldedRows, ...] = (),
    ) -> Decision:
        """A block in its shortest form, decided when it entered; `filed`: where its text is, and under which task."""
        return Decision(
            key=block.key,
            reason="ingest",
            ref=filed[0],
            runs=runs,
            text=text,
            whole=before,
            before=before,
            after=after,
            turn=self.turn,
            task=filed[1],
        )

    # words

    def _text(self, block: Block) -> None:
        self._measure(block, {})
        if block.kind == "text":
            self._note_mentions(block.text)
            if self._speaking:
                self._said.append(block.text)
            else:
                self._plan(block.text)

    def _plan(self, text: str) -> None:
        """Files that are named here are to be worked on."""
        for name in find_named(text):
            self.planned[name] = self.turn

    def is_planned(self, names: Collection[str]) -> bool:
        """Whether one of these files is to be worked on and has not been changed since that was said."""
        return any(self.planned.get(name, -1) > self.written.get(name, -1) for name in names)

    def _note_mentions(self, text: str) -> None:
        """Files and rare names that are written keep their texts in use."""
        for name in find_named(text):
            self.mentioned[name] = self.turn
        for word in identifiers(text):
            holders = self._names.get(word, ())
            if len(holders) <= self.rules.rare:
                for tracked, rows in holders:
                    if len(tracked) < self.rules.big:
                        tracked.related = self.turn
                    for row in rows:
                        tracked.used(row - self.rules.around, row + self.rules.around, self.turn)

    def _remember_names(self, tracked: TrackedText) -> None:
        found = find_identifiers(tracked.passage.lines, _PLACES)
        for word, rows in found.items():
            holders = self._names.setdefault(word, [])
            if len(holders) <= self.rules.rare:  # one more than rare is enough to know that it is not
                holders.append((tracked, rows))

    def _measure(self, block: Block, in_force: Mapping[str, Decision]) -> None:
        """Tokens of a block with all that is around its text: type, id, name, quotes; media as providers count them."""
        self.whole[block.key] = self.sizes[block.key] = count_block(block, self._count)
        if in_force:
            self._resize(block.key, in_force)
            self.cut.pop(block.key, None)

    def _track(
        self, key: str, field: str, rows: Passage, *, what: ToolUse, kind: str, decision: Decision | None = None
    ) -> TrackedText:
        tracked = TrackedText(
            key,
            field,
            rows,
            about=what,
            kind=kind,
            turn=self.turn,
            runs=decision.runs if decision else (),
        )
        if decision:
            tracked.ref, tracked.filed, tracked.base = decision.ref, decision.task, decision.text
        self.texts.setdefault(key, []).append(tracked)
        if kind != "replaced":  # it goes as soon as its edit succeeded: nothing may point to it
            self._sightings.add(tracked)
        return tracked


def _as_json(value: object, *, escaped: bool = False) -> str:
    return json.dumps(value, ensure_ascii=escaped, separators=(",", ":"))


def _count_saved(decision: Decision, size: int) -> int:
    """Tokens that a decision saves where the text stands in JSON: in results line ends and quotes count there too."""
    saved = decision.whole - decision.after
    if decision.field:
        return saved
    return round(saved * min(1.5, max(1.0, size / max(1, decision.whole))))


def _label(run: FoldedRows, source: TrackedText, what: ToolUse) -> str:
    if source.field:
        return "as written above"
    if source.about.files & what.files:
        numbers = source.passage.numbers
        if numbers and numbers[run.row] >= 0:
            return f"as above at {numbers[run.row]}"
        return "as above"
    name = next(iter(sorted(source.about.names)), "")
    if name and source.about.kind == "read":
        return f"as in {name} above"
    return "as above"


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        found: list[str] = []
        for inner in value.values():
            for text in _strings(inner):
                found.append(text)
        return found
    if isinstance(value, list):
        result: list[str] = []
        for inner in value:
            for text in _strings(inner):
                result.append(text)
        return result
    return []
