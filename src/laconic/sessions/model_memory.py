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
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, tuple[str, float]])
        except OSError:
            return {}
        except (msgspec.MsgspecError, RecursionError):
            with suppress(OSError):
                set_aside(self._path)
            return {}
