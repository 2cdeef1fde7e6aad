"""Which parser the settings want: one that parses everything here, or one that first asks a team's server."""

from __future__ import annotations

from typing import Final

from laconic.config import Settings
from laconic.index.parse.pool import ParseLimits
from laconic.index.parse_files import FileParser, FilePreparer
from laconic.index.shared_contents import SharingParser

_FEW: Final = 20  # changed files that are parsed here sooner than a server answers


def choose_parser(settings: Settings) -> FilePreparer:
    """The parser of this user's indexes."""
    limits = ParseLimits.of(settings)
    if not settings.text("index.server"):
        return FileParser(limits)
    from laconic.sessions.team.remote_contents import remote_contents  # an HTTP client: most have no server

    server = remote_contents(settings)
    return SharingParser(server, limits, least=_FEW)
