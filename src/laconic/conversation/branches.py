"""Which line of a session's history a request continues, and where another one parts from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from laconic.conversation.ledger import Branch, Inheritance, LedgerEntry
from laconic.conversation.prefix_hashes import PrefixHashes
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.turns_and_blocks import Block

KEPT: Final = 2  # newest exchanges that stay whatever happens
_ANCESTORS: Final = 8  # branches that one is known to come from
_PATH: Final = 32  # requests of a branch after which others may fork off; of older ones every other is forgotten


class SessionLedger(msgspec.Struct):
    """What is written down about a session."""

    events: list[LedgerEntry]
    branches: tuple[Branch, ...] = ()


def first_new(conversation: ParsedRequest, blocks: Sequence[Block]) -> int:
    """The first block that the request before did not have: with its answer the model's last words begin."""
    at = len(blocks)
    while at > 0 and conversation.turns[blocks[at - 1].turn].role != "assistant":
        at -= 1
    while at > 0 and conversation.turns[blocks[at - 1].turn].role == "assistant":
        at -= 1
    return at


def first_kept(conversation: ParsedRequest, keys: Sequence[str], start: int) -> int:
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


def begin_branch(known: SessionLedger, parent: Branch | None, start: int, kept: int) -> Branch:
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


def find_branch(branches: Sequence[Branch], chain: PrefixHashes) -> tuple[Branch | None, int]:
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


def last_seen(events: Sequence[LedgerEntry], branches: Collection[int], chain: PrefixHashes) -> int:
    """Blocks of a history on which one of these branches last decided something: its path may have forgotten it."""
    counts = []
    for event in events:
        if event.branch in branches and chain.holds(event.count, event.at):
            counts.append(event.count)
    return max(counts, default=0)


def add_to_path(path: Sequence[tuple[int, str]], newest: tuple[int, str]) -> tuple[tuple[int, str], ...]:
    """One request more. The newest are all remembered, of older ones fewer and fewer."""
    if newest in path:
        return tuple(path)
    longer = (*path, newest)
    if len(longer) <= 2 * _PATH:
        return longer
    older, newer = longer[:-_PATH], longer[-_PATH:]
    return (*older[::2], *newer)
