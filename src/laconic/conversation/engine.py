"""The conversation engine: takes a request and returns a shorter one, by decisions that never change.

It does no I/O: store, archive, clock and counter are passed in. The gateway, the agent and the replay call it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from laconic.conversation.cache_clock import CacheClock
from laconic.conversation.cache_economics import best_start, turns_to_come
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.eviction import Candidate, Evictor, candidates, savings
from laconic.conversation.history import History
from laconic.conversation.intake import intake
from laconic.conversation.ladder import KEPT, Ladder
from laconic.conversation.ledger import Branch, Decision, Inheritance, LedgerEntry, LedgerStore, Removal
from laconic.conversation.prefix_hashes import PrefixHashes
from laconic.conversation.prefix_repair import FormStore, PrefixRepair
from laconic.conversation.quota import Quota, thinking
from laconic.conversation.recap import Summariser
from laconic.conversation.rollup import Roller
from laconic.conversation.staleness import find_finished, useless
from laconic.conversation.tracker import ConversationTracker
from laconic.conversation.transaction import ArchiveStore, LedgerTransaction
from laconic.errors import ArchiveUnavailable, LedgerMoved
from laconic.models.model import Price
from laconic.records import Intake
from laconic.render.meta import meta
from laconic.wire.cache_marks import mark_block
from laconic.wire.limits import RateLimits, counts_cached
from laconic.wire.model import Block, InsertMessage
from laconic.wire.parsed_request import ParsedRequest, Shapes, parse
from laconic.wire.thinking import asked_budget, in_tool_loop, most_output, with_budget
from laconic.wire.usage import Usage

_LIVE: Final = 8  # branches whose derived state is kept; the others are read again when they return
_REST: Final = 900.0  # seconds after which a branch that nobody asked for is read again when it returns
_SHAPES: Final = 20_000  # messages whose make-up one session remembers
_ANCESTORS: Final = 8  # branches that one is known to come from
_PATH: Final = 32  # requests of a branch after which others may fork off; of older ones every other is forgotten
_TRIES: Final = 6  # times that a request is decided again because something could not be written


class PreparedRequest(msgspec.Struct, frozen=True):
    """What to send, and what was done to it."""

    body: bytes
    tokens: int = 0  # of the history and the fixed part as decisions reckon with them
    came: int = 0  # of both as they came, counted on the bytes
    sent: int = 0  # and as they are sent
    saved: int = 0  # tokens that decisions of this request took out
    made: tuple[Decision | Removal, ...] = ()
    mode: str = ""  # survival, window, semantic, standard, economic; empty: only what is new was looked at
    rung: str = ""  # the highest rung that acted
    thinking: int = 0  # the thinking budget, where it was lowered
    intake: Intake | None = None
    cuts: tuple[
        tuple[str, int], ...
    ] = ()  # blocks that became smaller after they had entered, and by how many tokens
    repaired: tuple[str, ...] = ()  # what was sent in its old form


class SessionLedger(msgspec.Struct):
    """What is written down about a session."""

    events: list[LedgerEntry]
    branches: tuple[Branch, ...] = ()


class ConversationEngine:
    """Keeps conversations small. One object serves all sessions of a process; one request at a time.

    What is sent follows from the request, the ledger and the clock alone: all that a process remembers could be
    thrown away at any time.
    """

    def __init__(
        self,
        store: LedgerStore,
        archive: ArchiveStore,
        clock: Callable[[], float],
        count: Callable[[str], int],
        options: EngineOptions | None = None,
        *,
        summariser: Summariser | None = None,
        forms: FormStore | None = None,
    ) -> None:
        self._store = store
        self._repair: PrefixRepair | None = None
        self._writing = LedgerTransaction(store, archive)
        self._clock = clock
        self._count = count
        self._options = options or EngineOptions()
        if forms is not None and self._options.repair:
            self._repair = PrefixRepair(forms)
        self._summariser = summariser
        self._known: OrderedDict[str, SessionLedger] = OrderedDict()
        self._shapes: OrderedDict[str, Shapes] = OrderedDict()
        self._histories: OrderedDict[tuple[str, int], History] = OrderedDict()  # by session and branch
        self._quotas: dict[str, Quota] = {}
        self._cache = CacheClock()

    def prepare(
        self, session: str, conversation: ParsedRequest, bounds: RequestLimits | None = None
    ) -> PreparedRequest:
        """The request to send in the place of this one. What may not be left out is sent, however long it is."""
        bounds = bounds or RequestLimits()
        shapes = self._shapes_of(session)
        conversation.remember(shapes)
        if self._repair is None or conversation.chained or conversation.array is None:
            return self._shorten(session, conversation, bounds)
        repaired = self._repair.repair(session, conversation)
        if not repaired.classes:
            return self._shorten(session, conversation, bounds)
        old_form = parse(conversation.format, repaired.body, shapes)
        prepared = self._shorten(session, old_form, bounds)
        return msgspec.structs.replace(prepared, repaired=repaired.classes)

    def _shorten(self, session: str, conversation: ParsedRequest, bounds: RequestLimits) -> PreparedRequest:
        """The request as the ledger and this moment have it."""
        body = conversation.body
        if conversation.chained or conversation.array is None or not self._options.enabled:
            return PreparedRequest(body)
        self._writing.begin()
        for _ in range(_TRIES):
            known = self._read_ledger(session)
            if known is None:
                return PreparedRequest(body)  # nobody knows what was decided: nothing is left out
            history = None
            try:
                history, prepared = self._prepare(session, known, conversation, bounds)
                self._write_down(session, known, history, self._cache.price(conversation).lifetime)
                # Whoever reads the ledger tries again what could not be written: so must this process.
                history.outdated = self._writing.refused
                return prepared
            except (ArchiveUnavailable, LedgerMoved):
                pass  # what is not on the disk was not decided
            finally:
                self._writing.discard()
            self._forget_session(session)
        return PreparedRequest(body)

    def _prepare(
        self, session: str, known: SessionLedger, conversation: ParsedRequest, bounds: RequestLimits
    ) -> tuple[History, PreparedRequest]:
        """The request with all that is decided about it; nothing of it is written down yet."""
        blocks = {block.key: block for turn in conversation.turns for block in turn.blocks}
        history, chain, new = self._history(session, known, conversation, blocks)
        try:
            made: list[Decision | Removal] = [*history.read(conversation, blocks, chain, known.events, new)]
            self._secure(history)
            fixed = sum(
                self._count(conversation.field(name).decode("utf-8", "replace"))
                for name in conversation.format.pinned
            )
            brought = intake(conversation, blocks.values(), history, history.branch.count, fixed)
            prefix = fixed + history.tracker.sent_tokens
            mode, rung, more = self._maintain(history, conversation, bounds, fixed)
            self._expect(session, history, 0 if more else prefix)
            fields, budget = self._thinking(conversation, bounds)
            changes, inserts = history.edits()
            tokens, sent = fixed + history.tokens, fixed + history.sent_tokens
            if self._options.meta:
                status = meta(tokens, bounds.window, history.tracker.tasks.title(history.tracker.tasks.current))
                inserts.append(InsertMessage(len(conversation.turns), "user", status))
                sent += self._count(status)
            written = self._mark_kept(history, known.events, more, conversation.emit(changes, inserts, fields))
        except BaseException:
            self._forget_session(session)
            raise
        history.rest()
        made += more
        return history, PreparedRequest(
            body=written,
            tokens=tokens,
            came=fixed + history.whole_tokens,
            sent=sent,
            saved=sum(one.before - one.after for one in made),
            made=tuple(made),
            mode=mode,
            rung=rung,
            thinking=budget,
            intake=brought,
            cuts=tuple(history.tracker.cut.items()),
        )

    def _mark_kept(
        self, history: History, events: Sequence[LedgerEntry], made: Sequence[Decision | Removal], written: bytes
    ) -> bytes:
        """A request that changes what was sent before asks the provider to read the unchanged beginning from its cache.

        Also when it is sent once more: then the newest event is about this very history.
        """
        conversation = history.conversation
        assert conversation is not None
        if not conversation.format.marks:
            return written
        if not made and events and events[-1].count == len(history.chain):
            made = [one for one in events[-1].decisions if one.reason != "ingest"] + [*events[-1].removals]
        if not made:
            return written
        kept = history.last_kept(made)
        if kept is None:
            return written
        request = parse(conversation.format, written)
        for turn in reversed(request.turns):
            for block in turn.blocks:
                if block.raw == kept.raw:
                    marked = mark_block(request, block)
                    if len(marked) <= len(conversation.body):
                        return marked
                    return written
        return written

    def _expect(self, session: str, history: History, prefix: int) -> None:
        """What a cache should hold of this request: all that was sent before, or nothing that we could judge by."""
        branch = history.branch
        pause = self._clock() - branch.time
        self._cache.expect(session, prefix if branch.time else 0, pause, branch.lifetime)

    def observe(self, account: str, usage: Usage | None, limits: RateLimits | None, *, session: str = "") -> None:
        """What an answer cost, and what the provider says is left."""
        quota = self.quota(account)
        if usage is not None:
            quota.spend(usage)
            self._cache.observe(account, session, usage)
        quota.told(limits)

    def quota(self, account: str, limit: int = 0) -> Quota:
        """The quota of a provider, key and model, shared by all sessions."""
        return self._quotas.setdefault(account, Quota(self._clock, limit))

    # state

    def _read_ledger(self, session: str) -> SessionLedger | None:
        """What is on the disk; while that cannot be read, what was read before; None when nothing was."""
        known = self._known.get(session)
        try:
            number, branches = self._store.state(session)
            if known is None or number < len(known.events):  # another ledger stands there now
                self._forget_session(session)
                known = SessionLedger([])
            known.events += self._store.events(session, len(known.events)) if number > len(known.events) else ()
            known.branches = branches
        except ArchiveUnavailable:
            return known
        self._known[session] = known
        self._known.move_to_end(session)
        return known

    def _write_down(self, session: str, known: SessionLedger, history: History, lifetime: float) -> None:
        """Decisions, and how far the branch is. That alone is not worth a failure: a later request writes it."""
        tip, count = history.chain.at(len(history.chain)), len(history.chain)
        path = _add_to_path(history.branch.path, (count, tip))
        branch = msgspec.structs.replace(
            history.branch, tip=tip, count=count, time=self._clock(), path=path, lifetime=lifetime
        )
        pending = self._writing.pending
        try:
            event = self._writing.finish(session, len(known.events), branch)
        except ArchiveUnavailable:
            if pending:
                raise
            return
        history.branch = branch
        if event is not None:
            known.events.append(event)
        history.events = len(known.events)

    def _forget_session(self, session: str) -> None:
        """All that is derived of a session; the history and the ledger give it back."""
        self._known.pop(session, None)
        if self._repair is not None:
            self._repair.forget(session)
        for name in [name for name in self._histories if name[0] == session]:
            del self._histories[name]

    def _shapes_of(self, session: str) -> Shapes:
        """What messages are made of; a session's are forgotten when others need the room, or when they pile up."""
        shapes = self._shapes.setdefault(session, {})
        self._shapes.move_to_end(session)
        if len(self._shapes) > _LIVE:
            self._shapes.popitem(last=False)
        if len(shapes) > _SHAPES:
            shapes.clear()
        return shapes

    def _history(
        self, session: str, known: SessionLedger, conversation: ParsedRequest, blocks: Mapping[str, Block]
    ) -> tuple[History, PrefixHashes, int]:
        """The branch that a request continues, or a new one; and from which block on the request is new."""
        keys = tuple(blocks)
        live = []
        for (name, _), each in self._histories.items():
            if name == session and each.tracker.extends(keys):
                live.append(each)
        nearest = max(live, key=lambda history: len(history.chain), default=None)
        if nearest:
            chain = nearest.chain.extend(keys[len(nearest.chain) :])
        else:
            chain = PrefixHashes(keys)
        new = _first_new(conversation, tuple(blocks.values()))
        branch, shared = _find_branch(known.branches, chain)
        if branch is None or not chain.holds(branch.count, branch.tip):
            start = 0
            if branch is not None:
                start = min(new, max(shared, _last_seen(known.events, (branch.id, *branch.ancestors), chain)))
            branch = _begin_branch(known, branch, start, _first_kept(conversation, keys, start))
        history = self._histories.get((session, branch.id))
        outdated = history is None or history.outdated or history not in live or not branch.count
        if history is None or outdated or any(e.branch == branch.id for e in known.events[history.events :]):
            evictor = Evictor(session, self._writing, self._count)
            tracker = ConversationTracker(self._options.rules, self._count, self._options.all_task_tools, evictor)
            history = self._histories[session, branch.id] = History(
                session, branch, len(known.events), self._writing, tracker
            )
        history.branch, history.events = branch, len(known.events)
        self._histories.move_to_end((session, branch.id))
        self._forget()
        return history, chain, new

    def _forget(self) -> None:
        """Let go of branches that are many or rest for long, but never of the one that is looked at."""
        while len(self._histories) > 1:
            oldest = next(iter(self._histories.values()))
            if len(self._histories) <= _LIVE and self._clock() - oldest.branch.time < _REST:
                return
            (gone, _), _ = self._histories.popitem(last=False)
            if all(other != gone for other, _ in self._histories):
                self._known.pop(gone, None)
                self._shapes.pop(gone, None)

    def _secure(self, history: History) -> None:
        """Everything that is left out must be in the archive: what it has lost is put back, or is not left out."""
        archive = self._writing.archive
        try:
            epoch = archive.epoch
            if history.epoch == epoch and not history.lost:
                return
            missing = archive.missing(history.refs - self._writing.refs)
        except ArchiveUnavailable:
            return  # it was there when it was decided, and nobody can say otherwise now
        try:
            again = []
            for ref, originals in history.originals(missing):
                again += [one for one in originals if archive.reference(one) == ref][:1]
            found = set(archive.put_all(again)) if again else set()
        except ArchiveUnavailable:
            found = set()
        history.lose(missing - found)
        history.epoch = epoch

    # maintenance

    def _maintain(
        self, history: History, conversation: ParsedRequest, bounds: RequestLimits, fixed: int
    ) -> tuple[str, str, list[Decision | Removal]]:
        """The first mode that has a reason to act. Survival comes first and asks nobody."""
        options, output = self._options, most_output(conversation)
        evictor = Evictor(history.session, self._writing, self._count)
        ladder = Ladder(history, evictor, self._count, fixed, self._summariser)
        quota = self.quota(bounds.account)
        quota.cached = counts_cached(conversation.format.name, conversation.model)
        answer = quota.output(output)
        warm = self._warm(history, bounds.account)
        if quota.known and quota.prompt(ladder.tokens, warm=warm) + answer > quota.left:
            room = max(0, quota.left - answer)  # for all of it: behind a change nothing is read from a cache
            return "survival", ladder.climb(room, max(room, fixed), "survival"), ladder.made
        if bounds.window:
            most = bounds.window - min(output, bounds.window // 2)
        else:
            most = 0
        if most and ladder.tokens > options.high_water * most:
            rung = ladder.climb(round(options.low_water * options.high_water * most), most, "trim")
            return "window", rung, ladder.made
        if history.event >= 0 and history.tracker.turn - history.event < options.least_turns:
            return "", "", []  # the lock: after an event some turns pass before the next, also across a restart
        completed = history.tracker.completed and ladder.tokens >= options.semantic
        economy = self._economy(history, conversation, bounds.account)
        if completed and (made := self._finish(history, evictor, economy)):
            return "semantic", "task", [*made]
        if options.standard and ladder.tokens > options.standard:
            rung = ladder.climb(round(options.low_water * options.standard), options.standard, "age")
            return "standard", rung, ladder.made
        if options.economic and (left := self._economise(history, evictor, conversation, economy)):
            return "economic", "age", left
        return "", "", []

    def _economy(self, history: History, conversation: ParsedRequest, account: str) -> tuple[Price, bool]:
        """What a rewrite costs now: the price, and whether there is a cache to lose.

        Of a branch that was never sent nobody knows, so it counts as warm.
        """
        return self._cache.price(conversation), history.branch.time == 0 or self._warm(history, account)

    def _finish(self, history: History, evictor: Evictor, economy: tuple[Price, bool]) -> list[Decision | Removal]:
        """Tasks were completed: their outputs go, if that pays."""
        done = {}
        for each in history.tracker.completed:
            done[each.id] = each
        made: list[Decision] = []
        found = []
        for one in candidates(history.tracker, find_finished):
            if any(tracked.task in done for tracked, _ in one.rows):
                found.append(one)
        giving = {candidate.key: candidate.tokens for candidate in found}
        start = self._start(history, giving, economy, self._options.weights.task_payback)
        told: set[str] = set()  # tasks whose result a tombstone carries: one is enough
        for candidate in _from(history, found, start):
            task = done[next(tracked.task for tracked, _ in candidate.rows if tracked.task in done)]
            result = task.result if task.id not in told else ""
            made += evictor.decide(history.tracker, [candidate], "task", history.original, (task.title, result))
            told.add(task.id)
        return history.commit(made)

    def _economise(
        self, history: History, evictor: Evictor, conversation: ParsedRequest, economy: tuple[Price, bool]
    ) -> list[Decision | Removal]:
        """What is no longer of use goes as soon as that pays."""
        warm, patience = economy[1], 1.0
        if not warm:
            patience = self._options.rules.cold
        grown = history.tracker.tokens - history.landed
        if warm and history.event >= 0 and grown < self._options.weights.apart:
            return []
        found = candidates(history.tracker, partial(useless, patience=patience))
        giving = {}
        for candidate in found:
            giving[candidate.key] = candidate.tokens
        roller = Roller(history, conversation, evictor, self._count, patience)
        for key, tokens in roller.savings(giving).items():
            giving[key] = giving.get(key, 0.0) + tokens
        start = self._start(history, giving, economy, self._options.weights.payback)
        if start is None:
            return []
        made = history.commit(evictor.decide(history.tracker, _from(history, found, start), "age", history.original))
        # Behind the first change everything is written anew: what is spent there goes.
        return [*made, *history.commit([], roller.decide(start))]

    def _start(
        self, history: History, giving: Mapping[str, float], economy: tuple[Price, bool], payback: float
    ) -> int | None:
        """The place from which on blocks give back what they can; None when that does not pay."""
        if not giving:
            return None
        price, warm = economy
        return best_start(
            savings(history.tracker, giving),
            turns_to_come(history.tracker.turn, self._options.weights),
            price,
            self._options.weights,
            warm=warm,
            payback=payback,
        )

    def _warm(self, history: History, account: str) -> bool:
        """Whether the provider's cache still holds what was sent of the history."""
        branch = history.branch
        return branch.time > 0 and self._clock() - branch.time < self._cache.lifetime(account, branch.lifetime)

    def _thinking(self, conversation: ParsedRequest, bounds: RequestLimits) -> tuple[dict[str, bytes], int]:
        quota = self._quotas.get(bounds.account)
        if quota is None or not quota.known:
            return {}, 0
        wanted = thinking(
            quota.left, asked_budget(conversation), conversation.format.name, in_loop=in_tool_loop(conversation)
        )
        if wanted is None:
            return {}, 0
        return with_budget(conversation, wanted.budget, wanted.effort), wanted.budget


def _from(history: History, found: Sequence[Candidate], start: int | None) -> list[Candidate]:
    """The candidates from a place on."""
    if start is None:
        return []
    return [candidate for candidate in found if history.present[candidate.key] >= start]


def _first_new(conversation: ParsedRequest, blocks: Sequence[Block]) -> int:
    """The first block that the request before did not have: with its answer the model's last words begin."""
    at = len(blocks)
    while at > 0 and conversation.turns[blocks[at - 1].turn].role != "assistant":
        at -= 1
    while at > 0 and conversation.turns[blocks[at - 1].turn].role == "assistant":
        at -= 1
    return at


def _first_kept(conversation: ParsedRequest, keys: Sequence[str], start: int) -> int:
    """The place of the newest exchanges among the first blocks, which stay whatever happens."""
    place = {}
    for number, each in enumerate(keys):
        place[each] = number
    begins: list[int] = []
    for exchange in conversation.exchanges:
        turn, block = exchange.members[0]
        begins.append(place[conversation.turns[turn].blocks[block].key])
    newest = [begin for begin in begins if begin < start][-KEPT:]
    if newest:
        return newest[0]
    return start


def _begin_branch(known: SessionLedger, parent: Branch | None, start: int, kept: int) -> Branch:
    """A branch that parts from another after its first blocks, or one that comes from none."""
    ancestors: tuple[int, ...] = ()
    farther: list[Inheritance] = []
    if parent is not None:
        ancestors = (parent.id, *parent.ancestors)[:_ANCESTORS]
        known_to_parent = parent.inheritance[: _ANCESTORS - 1]
        farther = []
        for one in known_to_parent:
            farther.append(Inheritance(one.branch, min(one.start, start), one.basis, min(one.kept, kept)))
    return Branch(
        id=1 + max((branch.id for branch in known.branches), default=0),
        tip="",
        count=0,
        time=0.0,
        start=start,
        basis=len(known.events),
        kept=kept,
        ancestors=ancestors,
        farther=tuple(farther),
    )


def _find_branch(branches: Sequence[Branch], chain: PrefixHashes) -> tuple[Branch | None, int]:
    """The branch that shares most with a history, and how much: it goes on, or another one forks off."""
    found = []
    for each in branches:
        for count, tip in each.path:
            if chain.holds(count, tip):
                found.append((count, count == each.count, each.id, each))
    if not found:
        return None, 0
    shared, _, _, branch = max(found, key=lambda match: match[:3])
    return branch, shared


def _last_seen(events: Sequence[LedgerEntry], branches: Collection[int], chain: PrefixHashes) -> int:
    """Blocks of a history on which one of these branches last decided something: its path may have forgotten it."""
    counts = []
    for event in events:
        if event.branch in branches and chain.holds(event.count, event.at):
            counts.append(event.count)
    return max(counts, default=0)


def _add_to_path(path: Sequence[tuple[int, str]], newest: tuple[int, str]) -> tuple[tuple[int, str], ...]:
    """One request more. The newest are all remembered, of older ones fewer and fewer."""
    if newest in path:
        return tuple(path)
    longer = (*path, newest)
    if len(longer) <= 2 * _PATH:
        return longer
    older, newer = longer[:-_PATH], longer[-_PATH:]
    return (*older[::2], *newer)
