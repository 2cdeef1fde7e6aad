"""What is known about a turn beside its cost: the part of the prompt that the client changed, and what was repaired."""

from __future__ import annotations

import msgspec

from laconic.conversation.prefix_change import Part, PrefixChange, find_change
from laconic.wire.fingerprint import RequestFingerprint


class TurnEvidence(msgspec.Struct, frozen=True, array_like=True):
    """One turn, as the record has it."""

    model: str
    part: Part = ""
    detail: str = ""
    repaired: str = ""

    @property
    def change(self) -> PrefixChange:
        return PrefixChange(self.part, self.detail)


def write_evidence(before: bytes, now: RequestFingerprint, repaired: str = "") -> bytes:
    """What a request changed of the one before, whose fingerprint was kept; empty: the session begins."""
    change = PrefixChange()
    if before:
        change = find_change(msgspec.msgpack.decode(before, type=RequestFingerprint), now)
    return msgspec.msgpack.encode(TurnEvidence(now.model, change.part, change.detail, repaired))


def read_evidence(written: bytes) -> TurnEvidence | None:
    """As `write_evidence` wrote it; None where nothing was written, or nothing that this version reads."""
    if not written:
        return None
    try:
        return msgspec.msgpack.decode(written, type=TurnEvidence)
    except msgspec.MsgspecError:
        return None
