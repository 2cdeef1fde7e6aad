"""One branch of a session's history: what was read of it, the changes in force, and how decisions come into force."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from laconic.conversation.block_changes import change_of
from laconic.conversation.eviction import as_bytes
from laconic.conversation.ledger import Branch, Decision, Inheritance, LedgerEntry, Removal
from laconic.conversation.prefix_hashes import PrefixHashes
from laconic.conversation.tracker import ConversationTracker
from laconic.conversation.transaction import LedgerTransaction
from laconic.errors import ArchiveUnavailable, ConversationError
from laconic.records import ArchivedOriginal
from laconic.wire.cache_marks import is_markable
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.turns_and_blocks import At, Block, Change, DropBlock, InsertMessage


class History:
    """Derived state, thrown away when idle: the history and the ledger give back the very same.

    For that, events come into force in the order of time: each after the blocks that it had seen, before those that
    it had not.
    """

    def __init__(
        self, session: str, branch: Branch, events: int, writing: LedgerTransaction, tracker: ConversationTracker
    ) -> None:
        self.session = session
        self.branch = branch
        self.events = events  # of the session, that were looked at
        self.writing = writing
        self.tracker = tracker
        self.chain = PrefixHashes()
        self.decisions: dict[str, dict[str, Decision]] = {}  # in force, by block and argument
        self.removals: list[Removal] = []  # in force, the newest last
        self.lost: set[str] = set()  # references that the archive cannot give back now: nothing is changed for them
        self.changes: dict[str, Change] = {}
        self.event = -1  # the turn of the last event that was more than taking in what is new; -1: none
        self.landed = 0  # tokens of the history after it
        self.epoch: int | None = None  # of the archive when it was last seen to hold everything
        self.conversation: ParsedRequest | None = None
        self.blocks: dict[str, Block] = {}
        self.outdated = False  # something about it could not be written: it is to be read again
        self.adopted = False  # what other branches had decided was looked at
        self._ranks: dict[tuple[str, str], int] = {}  # which event a place was decided by
        self._changed_sizes: dict[str, int] = {}  # tokens of blocks as their changes write them
        self._dirty: set[str] = set()  # blocks whose change has to be worked out again
        self._gone: frozenset[str] | None = None  # None: to be worked out again

    @property
    def present(self) -> dict[str, int]:
        return self.tracker.place

    def of(self, key: str) -> Mapping[str, Decision]:
        """What is in force for a block, by argument."""
        return self.decisions.get(key, {})

    # reading

    def read(
        self,
        conversation: ParsedRequest,
        blocks: dict[str, Block],
        chain: PrefixHashes,
        events: Sequence[LedgerEntry],
        new: int,
    ) -> list[Decision | Removal]:
        """Take in a request whose blocks from `new` on were not in the one before; returns what is decided of those."""
        tracker = self.tracker
        self.conversation, self.blocks, self.chain = conversation, blocks, chain
        listed = list(blocks.values())
        tracker.begin(new)
        if tracker.order:
            replayed = {}
        else:
            replayed = dict(self._find_events(events))
        ingested = self._find_ingested(replayed)
        if len(tracker.order) < len(listed):
            calls = conversation.calls(listed[len(tracker.order)].turn)
        else:
            calls = {}
        made: list[Decision] = []
        for stop, number, inherited in self._stops(replayed, len(listed)):
            made += tracker.read(conversation, listed[len(tracker.order) : stop], calls, ingested)
            if inherited is None:
                self._replay(replayed[number], number)
            else:
                self._adopt(inherited, events, replayed)
        made += tracker.read(conversation, listed[len(tracker.order) :], calls, ingested)
        self.adopted = True
        tracker.cut = {}
        self._refresh()
        return self.commit(made)

    def _find_ingested(self, replayed: Mapping[int, LedgerEntry]) -> dict[tuple[str, str], Decision]:
        """What was decided of blocks when they were new."""
        found: dict[tuple[str, str], Decision] = {}
        for number, event in replayed.items():
            for decision in event.decisions:
                if decision.reason == "ingest":
                    found[decision.key, decision.field] = decision
                    self._note(decision, number)
        return found

    def _stops(self, own: Mapping[int, LedgerEntry], last: int) -> list[tuple[int, int, Inheritance | None]]:
        """Where reading pauses: for an event by its number, and behind those for what an ancestor decided later."""
        stops: list[tuple[int, int, Inheritance | None]] = []
        for number, event in own.items():
            stops.append((event.count, number, None))
        if not self.adopted:
            for distance, inherited in enumerate(self.branch.inheritance):
                stops.append((min(inherited.start, last), -distance, inherited))  # the farthest first
        return sorted(stops, key=lambda stop: (stop[0], stop[2] is not None, stop[1]))

    def _find_events(self, events: Sequence[LedgerEntry]) -> Iterator[tuple[int, LedgerEntry]]:
        """Events of this branch, and of those that it continues, by their numbers."""
        ancestors = {}
        for each in self.branch.inheritance:
            ancestors[each.branch] = each
        for number, event in enumerate(events):
            one = ancestors.get(event.branch)
            inherited = one is not None and number < one.basis and event.count <= one.start
            if (event.branch == self.branch.id or inherited) and self.chain.holds(event.count, event.at):
                yield number, event

    def _adopt(self, inherited: Inheritance, events: Sequence[LedgerEntry], own: Mapping[int, LedgerEntry]) -> None:
        """What an ancestor had decided later about blocks that this branch began with: they were sent that way."""
        kept = min(inherited.start, inherited.kept)
        for number, event in enumerate(events[: inherited.basis]):
            if number in own or event.branch != inherited.branch:
                continue
            for decision in event.decisions:
                if decision.reason == "ingest":
                    before = inherited.start
                else:
                    before = kept
                newer = self._ranks.get((decision.key, decision.field), -1) < number
                if newer and self._begins_with((decision.key, *decision.sources), before):
                    self._take(decision, number)
            for removal in event.removals:
                if self._begins_with((removal.anchor, *removal.keys), kept) and not self.breaks(removal):
                    self._remove(removal)

    def _begins_with(self, keys: Sequence[str], before: int) -> bool:
        """Whether all these blocks are among the first."""
        place = self.tracker.place
        return all(place.get(key, before) < before for key in keys)

    def _replay(self, event: LedgerEntry, number: int) -> None:
        for decision in event.decisions:
            if decision.reason != "ingest":
                self._take(decision, number)
        for removal in event.removals:
            self._remove(removal)

    # deciding

    def commit(self, made: Sequence[Decision], removals: Sequence[Removal] = ()) -> list[Decision | Removal]:
        """Have decisions written down, and act on them; returns those that are in force.

        What is known not to be writable is not done.
        """
        if not made and not removals:
            return []
        try:
            self.writing.append(made, removals)
        except ArchiveUnavailable:
            return []
        for decision in made:
            if decision.reason == "ingest":
                self._note(decision, self.events)
            else:
                self._take(decision, self.events)
        for removal in removals:
            self._remove(removal)
        self._refresh()
        return [*made, *removals]

    def breaks(self, *removals: Removal) -> bool:
        """Whether the provider would refuse what is left."""
        conversation = self.conversation
        assert conversation is not None
        changes, inserts = self.edits()
        changes |= {self.blocks[key].at: DropBlock() for removal in removals for key in removal.keys}
        rules = set()
        for fault in conversation.faults():
            rules.add(fault.rule)
        try:
            left = parse(conversation.format, conversation.emit(changes, inserts))
        except ConversationError:
            return True
        return bool({fault.rule for fault in left.faults()} - rules)

    def original(self, key: str, field: str) -> str:
        """A block's text, or one argument of a call, as the client sent it."""
        block = self.blocks[key]
        if not field:
            return block.text
        arguments = block.input
        if isinstance(arguments, dict):
            value = arguments.get(field)
        else:
            value = None
        if isinstance(value, str):
            return value
        return ""

    def raw(self, keys: Sequence[str]) -> bytes:
        """The exact bytes of blocks, one after the other."""
        return b"\n".join(self.blocks[key].raw for key in keys)

    @property
    def recap(self) -> Removal | None:
        """The message of ours that stands for exchanges that are gone. It names the references of those before it."""
        return next((one for one in reversed(self.removals) if not one.below and one.ref not in self.lost), None)

    @property
    def tokens(self) -> int:
        """Tokens of the history as decisions reckon with them, the recap included."""
        recap = self.recap
        if recap is None:
            return self.tracker.tokens
        return self.tracker.tokens + recap.after

    @property
    def whole_tokens(self) -> int:
        """Tokens of the history as it came."""
        return sum(self.tracker.whole.values())

    @property
    def sent_tokens(self) -> int:
        """Tokens of the history as it is sent, counted on the texts that are written."""
        gone, recap = self.gone, self.recap
        total = 0
        for key, whole in self.tracker.whole.items():
            if key not in gone:
                total += self._changed_sizes.get(key, whole)
        if recap is None:
            return total
        return total + recap.after

    @property
    def gone(self) -> frozenset[str]:
        """Blocks that are not sent."""
        if self._gone is None:
            found: set[str] = set()
            for removal in self._standing():
                found.update(removal.keys)
            self._gone = frozenset(found)
        return self._gone

    def _standing(self) -> list[Removal]:
        """The removals whose reference the request shows: no other takes anything out of it."""
        recap = self.recap
        kept = []
        for one in self.removals:
            if one.ref not in self.lost:
                kept.append(one)
        recaps = []
        for one in kept:
            if recap and not one.below and one.ref in recap.text:
                recaps.append(one)
        lines = []
        for one in kept:
            if one.below:
                lines.append(one)
        while True:
            gone: set[str] = set()
            for one in (*recaps, *lines):
                gone.update(one.keys)
            shown = []
            for one in lines:
                if one.anchor not in gone:
                    shown.append(one)
            if len(shown) == len(lines):
                return [*recaps, *lines]
            lines = shown  # a line whose result is gone takes nothing out

    def last_kept(self, made: Sequence[Decision | Removal]) -> Block | None:
        """The last block before these changes that is sent as it came and can carry a cache mark."""
        place, gone = self.tracker.place, self.gone
        first = len(place)
        for one in made:
            if isinstance(one, Removal):
                keys: Sequence[str] = (one.anchor, *one.keys)
            else:
                keys = (one.key,)
            first = min(first, *(place.get(key, first) for key in keys))
        for key in reversed(self.tracker.order[:first]):
            if key not in gone and key not in self.changes and is_markable(self.blocks[key]):
                return self.blocks[key]
        return None

    def list_carried(self, anchors: Collection[str] | None = None) -> list[str]:
        """The lines that stand below results for exchanges that are gone, all or at these anchors."""
        found: list[str] = []
        for removal in self.removals:
            if removal.below and (anchors is None or removal.anchor in anchors):
                found += removal.text.split("\n")[1:]
        return found

    # sending

    def edits(self) -> tuple[dict[At, Change], list[InsertMessage]]:
        """All changes of this request, and our own messages. Only what the archive has a receipt for is changed."""
        changes: dict[At, Change] = {}
        for key, change in self.changes.items():
            changes[self.blocks[key].at] = change
        changes |= {self.blocks[key].at: DropBlock() for key in self.gone}
        recap = self.recap
        if recap:
            inserts = [InsertMessage(self.blocks[recap.anchor].turn, "user", recap.text)]
        else:
            inserts = []
        return changes, inserts

    @property
    def refs(self) -> set[str]:
        """Every reference in force."""
        found: set[str] = set()
        for fields in self.decisions.values():
            for decision in fields.values():
                found.add(decision.ref)
        return found | {removal.ref for removal in self.removals}

    def originals(self, refs: Collection[str]) -> Iterator[tuple[str, list[ArchivedOriginal]]]:
        """What references stand for, so that an archive that lost it gets it again.

        The same bytes have another reference under another task: all ways of writing them are given.
        """
        for key, fields in self.decisions.items():
            for field, decision in fields.items():
                if decision.ref in refs:
                    data = as_bytes(self.original(key, field))
                    tasks = dict.fromkeys(("", decision.task))
                    yield decision.ref, [ArchivedOriginal(self.session, task, data) for task in tasks]
        for removal in self.removals:
            if removal.ref in refs:
                yield removal.ref, [ArchivedOriginal(self.session, "", self.raw(removal.keys))]

    def lose(self, refs: set[str]) -> None:
        """What the archive cannot give back now is sent as it came, without a line that names its reference."""
        if refs == self.lost:
            return
        changed = refs ^ self.lost
        self.lost = refs
        self._gone = None
        for key, fields in self.decisions.items():
            if not changed.isdisjoint(decision.ref for decision in fields.values()):
                self._dirty.add(key)
        self._dirty.update(removal.anchor for removal in self.removals if removal.below)
        self._refresh()

    def rest(self) -> None:
        """Let go of the request's bytes."""
        self.conversation, self.blocks = None, {}

    # coming into force

    def _note(self, decision: Decision, number: int) -> None:
        self.decisions.setdefault(decision.key, {})[decision.field] = decision
        self._ranks[decision.key, decision.field] = number
        self._dirty.add(decision.key)

    def _take(self, decision: Decision, number: int) -> None:
        self._note(decision, number)
        self._note_event(decision.turn, decision.context)
        self.tracker.take(decision, self.of(decision.key))

    def _remove(self, removal: Removal) -> None:
        self._note_event(removal.turn, removal.context)
        if removal.below:
            self.removals = [one for one in self.removals if not (one.below and one.anchor == removal.anchor)]
        self.removals.append(removal)
        self._gone = None
        self._dirty.update(one.anchor for one in self.removals if one.below)
        self.tracker.remove(removal, self.of)

    def _note_event(self, turn: int, context: int) -> None:
        if turn < self.event:
            return
        if turn > self.event:
            self.landed = context
        else:
            self.landed = min(self.landed, context)
        self.event = turn

    def _refresh(self) -> None:
        """Work out what becomes of blocks about which something was decided that the archive can give back."""
        if not self._dirty:
            return
        below = {removal.anchor: removal.text for removal in self._standing() if removal.below}
        for key in self._dirty:
            decisions = {field: one for field, one in self.of(key).items() if one.ref not in self.lost}
            change = change_of(self.blocks[key], decisions, below.get(key, ""))
            if change is None:
                self.changes.pop(key, None)
                self._changed_sizes.pop(key, None)
            else:
                self.changes[key] = change
                self._changed_sizes[key] = self.tracker.measure_change(self.blocks[key], change)
        self._dirty.clear()
