"""What was learned about models, kept between processes in a small file for its owner only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

import msgspec

from laconic.sessions.damaged_files import set_aside


class Capabilities:
    """A file that cannot be read or written loses what was learned, nothing else: it will be learned again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = str(path)
        self._stamp: tuple[int, int, int] | None = None  # of the file that was read last
        self._known: dict[str, tuple[str, float]] = {}

    def recall(self, model: str) -> tuple[str, float] | None:
        """The protocol of a model, and until when that holds."""
        return self._read().get(model)

    def keep(self, model: str, protocol: str, until: float) -> None:
        """Another process may write at the same time: one of the two is learned again later."""
        kept = {**self._read(), model: (protocol, until)}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file, name = mkstemp(dir=self._path.parent, prefix=".models")
            with os.fdopen(file, "wb") as out:
                out.write(msgspec.json.encode(kept))
            Path(name).replace(self._path)
        except OSError:
            return

    def _read(self) -> dict[str, tuple[str, float]]:
        """Asked several times for each request: a file that is still the same is not opened again."""
        try:
            found = os.stat(self._place)  # noqa: PTH116 (half of the time of a `Path`)
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            if stamp != self._stamp:
                self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, tuple[str, float]])
                self._stamp = stamp
            return self._known
        except OSError:
            return {}
        except (msgspec.MsgspecError, RecursionError):
            with suppress(OSError):
                set_aside(self._path)
            return {}
