"""The conversation engine: a request in, the same request made smaller out, by decisions that stay as they are.

It does no I/O: store, archive, clock and counter are passed in. The gateway, the agent and the replay call it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from laconic.context.economy import best_start, turns_to_come
from laconic.context.evict import Candidate, Evictor, candidates, savings
from laconic.context.intake import intake
from laconic.context.judge import finished
from laconic.context.ladder import Ladder
from laconic.context.ledger import Decision, Ledger, Store
from laconic.context.line import Line
from laconic.context.options import Bounds, Options
from laconic.context.prices import price_of
from laconic.context.quota import Quota, thinking
from laconic.context.recap import Summariser
from laconic.context.rollup import Roller
from laconic.context.tracker import Tracker
from laconic.context.writing import Archive, Writing
from laconic.errors import ContextOverflow
from laconic.records import Intake
from laconic.render.meta import meta
from laconic.wire.conversation import Conversation, Shapes, parse
from laconic.wire.limits import Limits, counts_cached
from laconic.wire.model import Format, Insert
from laconic.wire.thinking import asked, in_tool_loop, most_output, with_budget
from laconic.wire.usage import Usage

_LIVE: Final = 8  # histories whose derived state is kept; the others are read again when they return
_REST: Final = 900.0  # seconds after which a history that nobody asked for is read again when it returns
_SHAPES: Final = 20_000  # messages whose make-up one session remembers


class Prepared(msgspec.Struct, frozen=True):
    """What to send, and what was done to it."""

    body: bytes
    tokens: int = 0  # of the history and the fixed part as sent
    saved: int = 0  # tokens that decisions of this request took out
    made: tuple[Decision, ...] = ()
    mode: str = ""  # survival, window, semantic, standard, economic; empty: only what is new was looked at
    rung: str = ""  # the highest rung that acted
    thinking: int = 0  # the thinking budget, where it was lowered
    intake: Intake | None = None
    cuts: tuple[
        tuple[str, int], ...
    ] = ()  # blocks that became smaller after they had entered, and by how many tokens


class Engine:
    """Keeps conversations small. One object serves all sessions of a process; one request at a time per session."""

    def __init__(
        self,
        store: Store,
        archive: Archive,
        clock: Callable[[], float],
        count: Callable[[str], int],
        options: Options | None = None,
        *,
        summariser: Summariser | None = None,
    ) -> None:
        self._store = store
        self._writing = Writing(store, archive)
        self._clock = clock
        self._count = count
        self._options = options or Options()
        self._summariser = summariser
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()
        self._shapes: OrderedDict[str, Shapes] = OrderedDict()
        self._lines: OrderedDict[tuple[str, str], Line] = OrderedDict()
        self._quotas: dict[str, Quota] = {}

    def prepare(self, session: str, format: Format, body: bytes, bounds: Bounds | None = None) -> Prepared:
        """The request to send in the place of this one."""
        bounds = bounds or Bounds()
        conversation = parse(format, body, self._shapes_of(session))
        if conversation.chained or conversation.array is None or not self._options.enabled:
            return Prepared(body)
        ledger = self._ledger(session)
        before = len(ledger), len(ledger.recaps)
        self._writing.begin()
        while True:
            try:
                prepared = self._prepared(session, conversation, bounds)
            except BaseException:
                self._take_back(session, *before)
                raise
            if self._writing.finish():
                return prepared
            self._take_back(session, *before)  # what is not on the disk was not decided

    def _prepared(self, session: str, conversation: Conversation, bounds: Bounds) -> Prepared:
        """The request with all that is decided about it; nothing of it is written down yet."""
        line = self._line(session, conversation)
        blocks = {block.key: block for turn in conversation.turns for block in turn.blocks}
        made = line.read(conversation, blocks, self._tracker(session))
        fixed = sum(
            self._count(conversation.field(name).decode("utf-8", "replace")) for name in conversation.format.pinned
        )
        brought = intake(conversation, blocks.values(), line.tracker, line.ledger, fixed)
        mode, rung, more = self._maintain(line, conversation, bounds, fixed)
        line.time = self._clock()
        fields, budget = self._thinking(conversation, bounds)
        changes, inserts = line.edits()
        tokens = fixed + line.tracker.tokens
        if self._options.meta:
            status = meta(tokens, bounds.window, line.tracker.tasks.title(line.tracker.tasks.current))
            inserts.append(Insert(len(conversation.turns), "user", status))
        written = conversation.emit(changes, inserts, fields)
        line.rest()
        cuts = tuple(line.tracker.cut.items())
        made = [*made, *more]
        saved = sum(decision.before - decision.after for decision in made)
        return Prepared(written, tokens, saved, tuple(made), mode, rung, budget, brought, cuts)

    def observe(self, account: str, usage: Usage | None, limits: Limits | None) -> None:
        """What an answer cost, and what the provider says is left."""
        quota = self.quota(account)
        if usage is not None:
            quota.spend(usage)
        quota.told(limits)

    def quota(self, account: str, limit: int = 0) -> Quota:
        """The quota of a provider, key and model, shared by all sessions."""
        return self._quotas.setdefault(account, Quota(self._clock, limit))

    # state

    def _ledger(self, session: str) -> Ledger:
        ledger = self._ledgers.get(session)
        if ledger is None:
            ledger = self._ledgers[session] = Ledger(*self._store.load(session))
        self._ledgers.move_to_end(session)
        return ledger

    def _take_back(self, session: str, decisions: int, recaps: int) -> None:
        """Only so many decisions were made; what followed from later ones is forgotten."""
        self._writing.discard()
        ledger = self._ledgers[session]
        self._ledgers[session] = Ledger(tuple(ledger)[:decisions], ledger.recaps[:recaps])
        for name in [name for name in self._lines if name[0] == session]:
            del self._lines[name]

    def _shapes_of(self, session: str) -> Shapes:
        """What messages are made of; a session's are forgotten when others need the room, or when they pile up."""
        shapes = self._shapes.setdefault(session, {})
        self._shapes.move_to_end(session)
        if len(self._shapes) > _LIVE:
            self._shapes.popitem(last=False)
        if len(shapes) > _SHAPES:
            shapes.clear()
        return shapes

    def _tracker(self, session: str) -> Tracker:
        evictor = Evictor(session, self._writing, self._count)
        return Tracker(self._options.rules, self._count, self._options.task_tool, evictor.shrink)

    def _line(self, session: str, conversation: Conversation) -> Line:
        """Helpers of an agent share its session but not its first message."""
        first = conversation.turns[conversation.first_user] if conversation.first_user >= 0 else None
        name = (session, first.blocks[0].key if first and first.blocks else "")
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = Line(session, self._ledger(session), self._writing, self._tracker(session))
        self._lines.move_to_end(name)
        self._forget()
        return line

    def _forget(self) -> None:
        """Let go of histories that are many or rest for long, but never of the one that is looked at."""
        while len(self._lines) > 1:
            oldest = next(iter(self._lines.values()))
            if len(self._lines) <= _LIVE and self._clock() - oldest.time < _REST:
                return
            (gone, _), _ = self._lines.popitem(last=False)
            if all(other != gone for other, _ in self._lines):
                self._ledgers.pop(gone, None)
                self._shapes.pop(gone, None)

    # maintenance

    def _maintain(
        self, line: Line, conversation: Conversation, bounds: Bounds, fixed: int
    ) -> tuple[str, str, list[Decision]]:
        """The first mode that has a reason to act. Survival comes first and asks nobody."""
        options, output = self._options, most_output(conversation)
        evictor = Evictor(line.session, self._writing, self._count)
        ladder = Ladder(line, evictor, self._count, fixed, self._summariser)
        quota = self.quota(bounds.account)
        quota.cached = counts_cached(conversation.format.name, conversation.model)
        answer = quota.output(output)
        if quota.known and quota.prompt(ladder.tokens, warm=self._warm(line, conversation)) + answer > quota.left:
            room = max(0, quota.left - answer)  # for all of it: behind a change nothing is read from a cache
            return "survival", ladder.climb(room, max(room, fixed), "survival"), ladder.made
        most = bounds.window - min(output, bounds.window // 2) if bounds.window else 0
        if most and ladder.tokens > options.high_water * most:
            rung = ladder.climb(round(options.low_water * options.high_water * most), most, "trim")
            if ladder.tokens > most:
                raise ContextOverflow(
                    f"{ladder.tokens} tokens do not fit the model's {bounds.window}, and no more may be left out.",
                    "Start a new conversation, or send less in the last messages.",
                )
            return "window", rung, ladder.made
        if line.event >= 0 and line.tracker.turn - line.event < options.least_turns:
            return "", "", []  # the lock: after an event some turns pass before the next, also across a restart
        completed = line.tracker.completed and ladder.tokens >= options.semantic
        if completed and (made := self._finish(line, evictor, conversation)):
            return "semantic", "task", made
        if options.standard and ladder.tokens > options.standard:
            rung = ladder.climb(round(options.low_water * options.standard), options.standard, "age")
            return "standard", rung, ladder.made
        if options.economic and (made := self._economise(line, evictor, conversation)):
            return "economic", "age", made
        return "", "", []

    def _finish(self, line: Line, evictor: Evictor, conversation: Conversation) -> list[Decision]:
        """Tasks were completed: their outputs go, if that pays."""
        done = {task.id: task.title for task in line.tracker.completed}
        made: list[Decision] = []
        found = [
            candidate
            for candidate in candidates(line.tracker, finished)
            if any(sheet.task in done for sheet, _ in candidate.rows)
        ]
        start = self._start(line, {candidate.key: candidate.tokens for candidate in found}, conversation)
        for candidate in _from(line, found, start):
            title = done[next(sheet.task for sheet, _ in candidate.rows if sheet.task in done)]
            made += evictor.decide(line.tracker, [candidate], "task", line.original, title)
        return line.commit(made)

    def _economise(self, line: Line, evictor: Evictor, conversation: Conversation) -> list[Decision]:
        """What is no longer of use goes as soon as that pays."""
        weights = self._options.weights
        grown = max(weights.apart, line.landed * weights.growth)
        if line.event >= 0 and line.tracker.tokens < line.landed + grown:
            return []  # hysteresis: what has not grown is left alone, whatever ages in it
        found = candidates(line.tracker)
        giving = {candidate.key: candidate.tokens for candidate in found}
        roller = Roller(line, conversation, evictor, self._count)
        for key, tokens in roller.savings(giving).items():
            giving[key] = giving.get(key, 0.0) + tokens
        start = self._start(line, giving, conversation)
        if start is None:
            return []
        made = line.commit(evictor.decide(line.tracker, _from(line, found, start), "age", line.original))
        # Behind the first change everything is written anew: what is spent there goes.
        return made + line.commit(roller.decide(start))

    def _start(self, line: Line, giving: Mapping[str, float], conversation: Conversation) -> int | None:
        """The place from which on blocks give back what they can; None when that does not pay."""
        if not giving:
            return None
        price = price_of(conversation.model)
        warm = line.time == 0 or self._warm(line, conversation)
        turns = turns_to_come(line.tracker.turn, self._options.weights)
        return best_start(
            savings(line.tracker, giving),
            turns,
            price,
            self._options.weights,
            warm=warm,
            context=line.tracker.tokens,
        )

    def _warm(self, line: Line, conversation: Conversation) -> bool:
        """Whether the provider's cache still holds what this process sent of the history."""
        return line.time > 0 and self._clock() - line.time < price_of(conversation.model).lifetime

    def _thinking(self, conversation: Conversation, bounds: Bounds) -> tuple[dict[str, bytes], int]:
        quota = self._quotas.get(bounds.account)
        if quota is None or not quota.known:
            return {}, 0
        wanted = thinking(
            quota.left, asked(conversation), conversation.format.name, in_loop=in_tool_loop(conversation)
        )
        if wanted is None:
            return {}, 0
        return with_budget(conversation, wanted.budget, wanted.effort), wanted.budget


def _from(line: Line, found: Sequence[Candidate], start: int | None) -> list[Candidate]:
    """The candidates from a place on."""
    return [] if start is None else [candidate for candidate in found if line.present[candidate.key] >= start]
