"""Who sends a request with a team's key: noted by the gate, and read by the proxy."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.exchange.caller import Target
from laconic.sessions.team.keys import TeamKey

MEMBER: Final = "laconic.member"  # in the scope of a request; a client cannot write there


class TeamMember(NamedTuple):
    """A key that was checked, and where its request may go."""

    key: TeamKey
    target: Target
