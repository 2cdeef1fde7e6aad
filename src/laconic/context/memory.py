"""A store and an archive that live in memory: for replays, for tests, and where nothing may be written."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from laconic.context.ledger import Decision, Recap
from laconic.records import Original


class MemoryStore:
    """Decisions of this process."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[list[Decision], list[Recap]]] = {}

    def load(self, session: str) -> tuple[Sequence[Decision], Sequence[Recap]]:
        decisions, recaps = self._kept.get(session, ([], []))
        return tuple(decisions), tuple(recaps)

    def append(self, session: str, decisions: Sequence[Decision], recaps: Sequence[Recap]) -> None:
        kept = self._kept.setdefault(session, ([], []))
        kept[0].extend(decisions)
        kept[1].extend(recaps)


class MemoryArchive:
    """Bytes by reference."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def reference(self, original: Original) -> str:
        head = f"{original.session}\0{original.task}\0".encode()
        return blake2b(head + original.data, digest_size=5).hexdigest()[:8]

    def put_all(self, originals: Sequence[Original]) -> list[str]:
        refs = [self.reference(one) for one in originals]
        self.kept.update(zip(refs, (one.data for one in originals), strict=True))
        return refs
