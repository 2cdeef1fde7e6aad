"""Which part of the recorded sessions one belongs to: to tune on, to choose between variants, or to report on.

Sessions of one repository, or of one developer, are alike: they are never in two parts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Final

import msgspec

from laconic.sessions.transcripts import Transcript

PARTS: Final = ("tune", "choose", "report")
_HOME: Final = re.compile(rb"/(?:Users|home)/([\w.\-]+)/")
_DEVELOPERS: Final = {b"dev1": "tune", b"dev3": "choose"}  # the two with most sessions; all others: report
_REPOSITORIES: Final = {
    "sqlfluff": "tune",
    "pydicom": "tune",
    "pylint-dev": "tune",
    "pi-mono-large-session": "tune",
    "pvlib": "choose",
    "astropy": "choose",
    "marshmallow-code": "choose",
    "oh-my-pi-session": "choose",
    "django": "report",
}


def part_of(session: Transcript) -> str:
    """The part of a session, by its client and repository; sessions of Claude Code by their developer."""
    client, _, rest = session.name.partition("/")
    if client == "claude-code":
        homes = Counter(_HOME.findall(msgspec.json.encode(session.messages))).most_common(1)
        if homes:
            return _DEVELOPERS.get(homes[0][0], "report")
        return "report"
    repository = rest.split("__", 1)[0]
    if client in {"mini-swe-agent", "pi"} and repository in _REPOSITORIES:
        return _REPOSITORIES[repository]
    digest = hashlib.md5(repository.encode(), usedforsecurity=False).hexdigest()
    return PARTS[int(digest, 16) % len(PARTS)]
