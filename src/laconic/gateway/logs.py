"""Log lines as JSON: what happened and how large it was, never what was said. No line can forge another."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Final, TextIO

import msgspec

FIELDS: Final = ("upstream", "format", "status", "ms", "came", "went", "session", "action", "fault", "size", "how")


class Lines(logging.Formatter):
    """One JSON object per record. Of a failure its kind and its place are kept: its words may quote what was said."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["failure"] = record.exc_info[0].__name__
            line["at"] = [f"{frame.filename.rsplit('laconic/', 1)[-1]}:{frame.lineno}" for frame in frames[-4:]]
        return msgspec.json.encode(line).decode()


def to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send the gateway's lines there."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    logger = logging.getLogger("laconic.gateway")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False
