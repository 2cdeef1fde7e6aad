"""The conversation engine: takes a request and returns a shorter one, by decisions that never change.

It does no I/O: store, archive, clock and counter are passed in. The gateway, the agent and the replay call it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from laconic.conversation.added_content import list_added_content
from laconic.conversation.branches import (
    SessionLedger,
    add_to_path,
    begin_branch,
    find_branch,
    first_kept,
    first_new,
    last_seen,
)
from laconic.conversation.cache_clock import CacheClock, price_of
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.eviction import Evictor
from laconic.conversation.history import History
from laconic.conversation.ledger import Decision, LedgerEntry, LedgerStore, Removal
from laconic.conversation.lifetimes import Lifetimes
from laconic.conversation.maintenance import Maintenance
from laconic.conversation.prefix_hashes import PrefixHashes
from laconic.conversation.prefix_repair import FormStore, PrefixRepair
from laconic.conversation.provider_settings import for_provider
from laconic.conversation.quota import Quota, QuotaStore, ThinkingLimit, limit_thinking
from laconic.conversation.tracker import ConversationTracker
from laconic.conversation.transaction import ArchiveStore, LedgerTransaction
from laconic.errors import ArchiveUnavailable, LedgerMoved, StoreAway
from laconic.records import AddedContent
from laconic.render.context_status import write_context_status
from laconic.wire.cache_marks import mark_block
from laconic.wire.parsed_request import ParsedRequest, Shapes, parse
from laconic.wire.rate_limits import RateLimits, counts_cached
from laconic.wire.thinking import asked_budget, in_tool_loop, least_budget, with_budget
from laconic.wire.turns_and_blocks import Block, InsertMessage
from laconic.wire.usage import Usage

_REST: Final = 900.0  # seconds after which a branch that nobody asked for is read again when it returns
_SHAPES: Final = 20_000  # messages whose make-up one session remembers
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
    added_content: AddedContent | None = None
    cuts: tuple[
        tuple[str, int], ...
    ] = ()  # blocks that became smaller after they had entered, and by how many tokens
    repaired: tuple[str, ...] = ()  # what was sent in its old form


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
        forms: FormStore | None = None,
        quotas: QuotaStore | None = None,
    ) -> None:
        self._store = store
        self._shared_quotas = quotas
        self._repair: PrefixRepair | None = None
        self._writing = LedgerTransaction(store, archive)
        self._clock = clock
        self._count = count
        self._options = options or EngineOptions()
        if forms is not None and self._options.repair:
            self._repair = PrefixRepair(forms)
        self._known: OrderedDict[str, SessionLedger] = OrderedDict()
        self._shapes: OrderedDict[str, Shapes] = OrderedDict()
        self._histories: OrderedDict[tuple[str, int], History] = OrderedDict()  # by session and branch
        self._quotas: dict[str, Quota] = {}
        self._cache = CacheClock()
        self._maintenance = Maintenance(self._options, self._writing, clock, count)

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
                self._write_down(session, known, history, price_of(conversation).lifetime)
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
        history, chain, new = self._history(session, known, conversation, blocks, bounds)
        try:
            made: list[Decision | Removal] = [*history.read(conversation, blocks, chain, known.events, new)]
            self._secure(history)
            fixed = sum(
                self._count(conversation.field(name).decode("utf-8", "replace"))
                for name in conversation.format.pinned
            )
            brought = list_added_content(conversation, blocks.values(), history, history.branch.count, fixed)
            prefix = fixed + history.tracker.sent_tokens
            quota = self._find_quota(conversation, bounds)
            mode, rung, more = self._maintenance.maintain(history, conversation, bounds, fixed, quota)
            self._cache.expect(session, 0 if more else prefix, self._clock(), history.branch)
            fields, wanted = self._lower_thinking(history, conversation, bounds, quota)
            changes, inserts = history.edits()
            tokens, sent = fixed + history.tokens, fixed + history.sent_tokens
            if self._options.meta:
                status = write_context_status(
                    tokens, bounds.window, history.tracker.tasks.title(history.tracker.tasks.current)
                )
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
            thinking=wanted.budget,
            added_content=brought,
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
        if not conversation.format.cache.marks:
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

    def observe(self, account: str, usage: Usage | None, limits: RateLimits | None, *, session: str = "") -> None:
        """What an answer cost, and what the provider says is left."""
        quota, spent = self.quota(account), None
        if usage is not None:
            spent = quota.spend(usage)
            learned = self._cache.learn(session, usage)
            if learned is not None:
                self._keep_lifetime(session, learned)
        told = quota.learn(limits)
        if self._shared_quotas is not None:
            self._shared_quotas.add(account, spent, told)

    def quota(self, account: str, limit: int = 0) -> Quota:
        """The quota of a provider, key and model, shared by all sessions."""
        return self._quotas.setdefault(account, Quota(self._clock, limit))

    def _find_quota(self, conversation: ParsedRequest, bounds: RequestLimits) -> Quota:
        """The quota of a request; what the settings say counts until the provider says otherwise."""
        stated = for_provider(self._options.quota, bounds.provider, conversation.format.provider)
        quota = self.quota(bounds.account, stated or 0)
        known = self._shared_quotas.read(bounds.account) if self._shared_quotas is not None else None
        if known is not None:
            quota.adopt(*known)
        quota.cached = counts_cached(conversation.format.name, conversation.model)
        return quota

    def _keep_lifetime(self, session: str, seconds: float) -> None:
        """Write down how long a session's cache entries live. Not worth a failure: the next answer says it again."""
        live = [history for (name, _), history in self._histories.items() if name == session]
        if not live:
            return
        history = live[-1]
        branch = msgspec.structs.replace(history.branch, learned=seconds)
        try:
            self._store.record(session, history.events, None, branch)
        except (ArchiveUnavailable, LedgerMoved):
            return
        history.branch = branch

    def _lower_thinking(
        self, history: History, conversation: ParsedRequest, bounds: RequestLimits, quota: Quota
    ) -> tuple[dict[str, bytes], ThinkingLimit]:
        """The fields that ask for less thinking while the quota runs low.

        What a tool loop began with holds until its end: providers forbid a change there, or lose their cache by it.
        """
        branch, format, asked = history.branch, conversation.format, asked_budget(conversation)
        wanted = ThinkingLimit(branch.thinking, branch.effort)
        if not in_tool_loop(conversation):
            names = (bounds.provider, format.provider)
            half = for_provider(self._options.thinking_half, *names) or 0
            low = for_provider(self._options.thinking_low, *names) or 0
            wanted = ThinkingLimit(0, "")
            if quota.known:
                wanted = limit_thinking(quota.left, asked, least_budget(conversation), half=half, low=low) or wanted
        history.branch = msgspec.structs.replace(branch, thinking=wanted.budget, effort=wanted.effort)
        if not 0 < wanted.budget < asked:
            return {}, ThinkingLimit(0, "")
        fields = with_budget(conversation, wanted.budget, wanted.effort)
        if not fields:
            return {}, ThinkingLimit(0, "")
        return fields, wanted

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
        except StoreAway:
            return None  # other replicas may have gone on, and nothing could be brought back now
        except ArchiveUnavailable:
            return known
        self._known[session] = known
        self._known.move_to_end(session)
        return known

    def _write_down(self, session: str, known: SessionLedger, history: History, lifetime: float) -> None:
        """Decisions, and how far the branch is. That alone is not worth a failure: a later request writes it."""
        tip, count = history.chain.at(len(history.chain)), len(history.chain)
        path = add_to_path(history.branch.path, (count, tip))
        branch = msgspec.structs.replace(
            history.branch, tip=tip, count=count, time=self._clock(), path=path, lifetime=lifetime
        )
        if lifetime != history.branch.lifetime:
            branch = msgspec.structs.replace(branch, learned=0.0)
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
        if len(self._shapes) > self._options.live_sessions:
            self._shapes.popitem(last=False)
        if len(shapes) > _SHAPES:
            shapes.clear()
        return shapes

    def _history(
        self,
        session: str,
        known: SessionLedger,
        conversation: ParsedRequest,
        blocks: Mapping[str, Block],
        bounds: RequestLimits,
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
        new = first_new(conversation, tuple(blocks.values()))
        branch, shared = find_branch(known.branches, chain)
        if branch is None or not chain.holds(branch.count, branch.tip):
            start = 0
            if branch is not None:
                start = min(new, max(shared, last_seen(known.events, (branch.id, *branch.ancestors), chain)))
            branch = begin_branch(known, branch, start, first_kept(conversation, keys, start))
        history = self._histories.get((session, branch.id))
        outdated = history is None or history.outdated or history not in live or not branch.count
        if history is None or outdated or any(e.branch == branch.id for e in known.events[history.events :]):
            evictor = Evictor(session, self._writing, self._count)
            rules = self._rules(conversation, bounds)
            tracker = ConversationTracker(rules, self._count, self._options.all_task_tools, evictor)
            history = self._histories[session, branch.id] = History(
                session, branch, len(known.events), self._writing, tracker
            )
        history.branch, history.events = branch, len(known.events)
        self._histories.move_to_end((session, branch.id))
        self._forget()
        return history, chain, new

    def _rules(self, conversation: ParsedRequest, bounds: RequestLimits) -> Lifetimes:
        """How long content stays, with the newest turns that the settings protect for a provider."""
        rules = self._options.rules
        turns = for_provider(self._options.protected_turns, bounds.provider, conversation.format.provider)
        if turns is None:
            return rules
        return msgspec.structs.replace(rules, protected=turns)

    def _forget(self) -> None:
        """Let go of branches that are many or rest for long, but never of the one that is looked at."""
        while len(self._histories) > 1:
            oldest = next(iter(self._histories.values()))
            if len(self._histories) <= self._options.live_sessions and self._clock() - oldest.branch.time < _REST:
                return
            (gone, _), _ = self._histories.popitem(last=False)
            if all(other != gone for other, _ in self._histories):
                self._known.pop(gone, None)
                self._shapes.pop(gone, None)

    def _secure(self, history: History) -> None:
        """Everything that is left out must be in the archive: what it has lost is put back, or is not left out."""
        archive = self._writing.archive
        if not history.decisions and not history.removals:
            return  # nothing is left out
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
