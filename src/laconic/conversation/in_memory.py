"""A store and an archive that live in memory: for replays, for tests, and where nothing may be written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b

from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.errors import LedgerMoved
from laconic.records import ArchivedOriginal


class MemoryStore:
    """Decisions of this process."""

    def __init__(self) -> None:
        self._events: dict[str, list[LedgerEntry]] = {}
        self._branches: dict[str, dict[int, Branch]] = {}
        self._forms: dict[str, dict[bytes, bytes]] = {}

    def state(self, session: str) -> tuple[int, tuple[Branch, ...]]:
        return len(self._events.get(session, ())), tuple(self._branches.get(session, {}).values())

    def events(self, session: str, since: int) -> Sequence[LedgerEntry]:
        return tuple(self._events.get(session, ())[since:])

    def record(self, session: str, known: int, event: LedgerEntry | None, branch: Branch) -> None:
        events = self._events.setdefault(session, [])
        if len(events) != known:
            raise LedgerMoved("Another writer changed this session.", "Read it again.")
        if event is not None:
            events.append(event)
        self._branches.setdefault(session, {})[branch.id] = branch

    def forms(self, session: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        known = self._forms.get(session, {})
        return {key: known[key] for key in keys if key in known}

    def keep_forms(self, session: str, forms: Mapping[bytes, bytes]) -> None:
        self._forms[session] = {**forms, **self._forms.get(session, {})}


class MemoryArchive:
    """Bytes by reference."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def reference(self, original: ArchivedOriginal) -> str:
        head = f"{original.session}\0{original.task}\0".encode()
        return blake2b(head + original.data, digest_size=5).hexdigest()[:8]

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        refs = []
        for one in originals:
            refs.append(self.reference(one))
        self.kept.update(zip(refs, (one.data for one in originals), strict=True))
        return refs

    @property
    def epoch(self) -> int:
        return 0

    def missing(self, refs: Collection[str]) -> set[str]:
        return set(refs) - self.kept.keys()
