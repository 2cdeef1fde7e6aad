"""What each turn cost, in one way for all front ends: accounted against the turns before, and written down."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from laconic.clients.registry import compaction_limit, find_by_name
from laconic.conversation.accounting import CacheState, TurnCost, TurnSizes, account, estimate_prompt
from laconic.conversation.client_compaction import ClientCompaction
from laconic.conversation.engine import PreparedRequest
from laconic.errors import ArchiveUnavailable
from laconic.exchange.turn_evidence import write_evidence
from laconic.models.find_model import window_of
from laconic.models.price_lookup import Prices
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns
from laconic.wire.fingerprint import RequestFingerprint
from laconic.wire.laconic_overhead import LaconicOverhead
from laconic.wire.rate_limits import RateLimits
from laconic.wire.usage import Usage

_SESSIONS: Final = 1000  # whose cache is remembered where there is no record


class AnsweredTurn(msgspec.Struct, frozen=True):
    """One request with its answer, as far as it came. `came` and `went` are bytes."""

    who: TurnIdentity
    base: str  # where it was sent
    prepared: PreparedRequest
    came: int
    went: int
    usage: Usage | None  # None: nobody counted
    estimate: int = 0  # tokens of the prompt, by our count
    ours: LaconicOverhead = LaconicOverhead()
    status: int = 200
    seconds: float = 0.0
    limits: RateLimits | None = None
    fingerprint: RequestFingerprint | None = None  # of the request as the client sent it


class TurnAccount:
    """Accounts for turns one after the other. A record that cannot be read or written loses figures, nothing else."""

    def __init__(
        self, turns: Turns | None = None, prices: Prices | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._turns = turns
        self.prices = prices or Prices()
        self._clock = clock
        self._states: OrderedDict[str, CacheState] = OrderedDict()
        self._compared = ("", b"")  # the session that was accounted for last, and what its request is compared with

    def account(self, turn: AnsweredTurn) -> tuple[TurnCost | None, AnswerCost | None]:
        """What it cost, and the same as the record has it; None when there is nothing to account for."""
        now, before = self._clock(), self._read_state(turn.who.session)
        price = self.prices.of(turn.who.model, turn.base)
        usage = turn.usage
        is_answered = 200 <= turn.status < 300
        if is_answered and (usage is None or not usage.prompt):
            usage = (usage or Usage()) + estimate_prompt(turn.estimate, before, price, now)
        if usage is None or not usage.prompt:
            return None, None
        counts = before.counts
        if turn.prepared.sent and not usage.estimated:
            counts = counts.add(turn.prepared.sent, usage.prompt, rewritten=bool(turn.prepared.mode))
        cost, after = account(_sizes_of(turn, usage, counts.ratio, now), before, price)
        after = msgspec.structs.replace(after, counts=counts)
        self._keep_state(turn.who.session, after)
        return cost, AnswerCost(**cost.row(after))

    def write(self, turn: AnsweredTurn, cost: AnswerCost | None, malformed: Sequence[str] = ()) -> None:
        """Put it into the record."""
        if self._turns is None:
            return
        record = TurnRecord.of(
            turn.who,
            turn.prepared,
            at=self._clock(),
            status=turn.status,
            seconds=turn.seconds,
            cost=cost,
            malformed=malformed,
            limits=turn.limits,
        )
        self._turns.add(self._add_evidence(turn, record))

    def _add_evidence(self, turn: AnsweredTurn, record: TurnRecord) -> TurnRecord:
        """What the request changed of the last one that was answered."""
        assert self._turns is not None
        if turn.fingerprint is None or record.cost is None:
            return record
        session, before = self._compared
        if session != turn.who.session:
            before = self._read_last(turn.who.session)[1]
        return msgspec.structs.replace(
            record,
            evidence=write_evidence(before, turn.fingerprint, ", ".join(turn.prepared.repaired)),
            fingerprint=msgspec.msgpack.encode(turn.fingerprint),
        )

    def close(self) -> None:
        if self._turns is not None:
            self._turns.close()

    def _read_state(self, session: str) -> CacheState:
        """By the record: another process may have gone on with the session."""
        written, compared = self._read_last(session)
        self._compared = (session, compared)
        if written:
            return CacheState.read(written)
        return self._states.get(session, CacheState())

    def _read_last(self, session: str) -> tuple[bytes, bytes]:
        if self._turns is None:
            return b"", b""
        try:
            return self._turns.last_turn(session)
        except (sqlite3.Error, ArchiveUnavailable):
            return b"", b""

    def _keep_state(self, session: str, state: CacheState) -> None:
        self._states[session] = state
        self._states.move_to_end(session)
        if len(self._states) > _SESSIONS:
            self._states.popitem(last=False)


def _sizes_of(turn: AnsweredTurn, usage: Usage, ratio: float, at: float) -> TurnSizes:
    """All sizes in tokens of the provider's count. `ratio` is how many of those one of ours is worth."""
    prepared, fixed = turn.prepared, 0.0
    if prepared.added_content is not None and prepared.tokens:
        fixed = prepared.added_content.fixed / prepared.tokens
    removed = 0.0
    if turn.came != turn.went:
        removed = ratio * (prepared.came - prepared.sent)
    return TurnSizes(
        usage=usage,
        came=max(0.0, usage.prompt + removed),
        went=usage.prompt,
        ours=ratio * turn.ours.tokens,
        fixed=fixed,
        rewritten=bool(prepared.mode),
        anew=prepared.added_content is not None and prepared.added_content.anew,
        recall=turn.ours.recall,
        at=at,
        compaction=_find_habits(turn.who),
    )


def _find_habits(who: TurnIdentity) -> ClientCompaction:
    known = find_by_name(who.client)
    if known is None:
        return ClientCompaction()
    return ClientCompaction(
        limit=compaction_limit(who.client, who.model, window_of(who.model, who.betas), who.betas),
        late=known.compacts_late,
        keeps_turns=known.keeps_turns,
        keeps_tokens=known.keeps_tokens,
        summarises=known.summarises,
    )
