"""What is recorded of one request and its answer: whose it was, what it cost, what was done to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Final, Protocol

import msgspec

from laconic.records import AddedContent
from laconic.wire.rate_limits import RateLimits

_MINUTE: Final = 60.0  # seconds after which a quota is full again when nobody says


class TurnIdentity(msgspec.Struct, frozen=True):
    """Whose turn it is: hashes, and names."""

    session: str
    account: str = ""
    upstream: str = ""
    model: str = ""
    format: str = ""
    client: str = ""  # as the client names itself
    family: str = ""  # shared by a session and what its client asks on the side
    title: str = ""  # how the user began, where the intake does not say
    project: str = ""  # and the folder that the client works in
    person: str = ""  # whose key of a team it came with
    betas: str = ""  # that its client asks the provider for


class AnswerCost(msgspec.Struct, frozen=True):
    """What an answer cost, and what it would have cost with the history as it came."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    whole: float = 0.0  # prompt tokens without us
    dollars: float = 0.0  # for the prompt and the answer
    dollars_whole: float = 0.0
    long: int = 0  # of what was written to the cache, tokens that it keeps for an hour
    output_dollars: float = 0.0  # of the dollars, those for the answer
    unpriced: int = 0  # tokens whose price is not known
    estimated: bool = False  # the provider did not report all of it
    standing: bytes = b""  # what the next turn of the session is accounted against


class ShortenedBlock(msgspec.Struct, frozen=True):
    """A block became smaller after it had entered."""

    key: str
    tokens: int


class Allowance(msgspec.Struct, frozen=True):
    """What a provider says is left of a minute's tokens."""

    tokens: int  # of the limit; 0: not said
    left: int
    reset: float  # seconds
    input_only: bool = False  # output has a limit of its own

    @classmethod
    def of(cls, limits: RateLimits | None) -> Allowance | None:
        """What headers say; None where they say nothing about tokens."""
        if limits is None or limits.tokens_left is None:
            return None
        reset = limits.tokens_reset or _MINUTE
        return cls(limits.tokens or 0, limits.tokens_left, reset, limits.input_only)


class RequestChanges(Protocol):
    """What was done to a request."""

    @property
    def tokens(self) -> int: ...
    @property
    def saved(self) -> int: ...
    @property
    def made(self) -> Sized: ...
    @property
    def mode(self) -> str: ...
    @property
    def rung(self) -> str: ...
    @property
    def added_content(self) -> AddedContent | None: ...
    @property
    def cuts(self) -> Iterable[tuple[str, int]]: ...


class TurnRecord(msgspec.Struct, frozen=True):
    """One request and its answer."""

    who: TurnIdentity
    at: float
    status: int = 0  # 0: the client left, or nobody answered
    milliseconds: int = 0
    context: int = 0  # tokens as sent, by our own count
    cost: AnswerCost | None = None  # None: the answer did not say
    decisions: int = 0
    saved: int = 0  # tokens that they took out
    mode: str = ""
    rung: str = ""
    added_content: AddedContent | None = None
    cuts: tuple[ShortenedBlock, ...] = ()
    malformed: tuple[str, ...] = ()  # reasons
    allowance: Allowance | None = None
    evidence: bytes = b""  # what it changed of the request before
    fingerprint: bytes = b""  # what the next one is compared with

    @classmethod
    def of(
        cls,
        who: TurnIdentity,
        kept: RequestChanges,
        *,
        at: float,
        status: int,
        seconds: float,
        cost: AnswerCost | None,
        malformed: Sequence[str],
        limits: RateLimits | None,
    ) -> TurnRecord:
        """A turn that ended at that time."""
        return cls(
            *(who, at, status, round(1000 * seconds), kept.tokens, cost),
            *(len(kept.made), kept.saved, kept.mode, kept.rung, kept.added_content),
            cuts=tuple(ShortenedBlock(key, tokens) for key, tokens in kept.cuts),
            malformed=tuple(malformed),
            allowance=Allowance.of(limits),
        )
