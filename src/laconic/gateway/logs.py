"""Log lines as JSON: what happened and how large it was, never what was said. No line can forge another."""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Final, TextIO

import msgspec

FIELDS: Final = ("upstream", "format", "status", "ms", "came", "went", "session", "action", "fault", "size", "how")

_KEPT: Final = 20  # log files of earlier runs


class JsonLogFormatter(logging.Formatter):
    """One JSON object per record. Of a failure its kind and its place are kept: its words may quote what was said."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            line["failure"] = record.exc_info[0].__name__
            line["at"] = [
                f"{frame.f_code.co_filename.rsplit('laconic/', 1)[-1]}:{number}"  # without reading the source
                for frame, number in list(traceback.walk_tb(record.exc_info[2]))[-4:]
            ]
        return msgspec.json.encode(line).decode()


def to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send the gateway's lines there."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLogFormatter())
    logger = logging.getLogger("laconic.gateway")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False


class LogFile:
    """A log of one run in a folder, for whatever goes wrong; removed at the end when nothing did."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in sorted(folder.glob("*.log"))[:-_KEPT]:
            old.unlink(missing_ok=True)
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"

    def __enter__(self) -> LogFile:
        self.file = os.fdopen(
            os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8"
        )
        to(self.file, logging.WARNING)
        self._root = logging.StreamHandler(self.file)
        self._root.setFormatter(JsonLogFormatter())
        logging.getLogger().addHandler(self._root)  # libraries would otherwise write to the terminal
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self._root)
        logging.getLogger("laconic.gateway").handlers.clear()
        self.file.close()
        if not self.path.stat().st_size:
            self.path.unlink()
