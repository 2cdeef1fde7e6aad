"""Whose request it is, and where it goes."""

from __future__ import annotations

import msgspec


class Caller(msgspec.Struct, frozen=True):
    """Whose request it is: never a key, only hashes of it."""

    session: str
    account: str  # provider and key
    model: str
    wishes: str = ""  # betas that the client asks the provider for
    family: str = ""  # shared by a session and what its client asks on the side
    upstream: str = ""  # the provider's name in settings
    client: str = ""  # the name that the client gives itself


class Target(msgspec.Struct, frozen=True):
    """Where a request goes."""

    upstream: str  # anthropic, openai, gemini, or a configured name
    base: str
    path: str  # as the provider is asked for it
    format: str = ""  # empty: not a conversation
    model: str = ""  # where the path names it
    person: str = ""  # whose key of a team it came with; empty: there is no team
