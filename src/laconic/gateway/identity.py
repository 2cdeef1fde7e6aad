"""Whose request this is: recognised without help from the client, and never mixed up between keys."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qs

from laconic.gateway.engine import Caller
from laconic.gateway.routes import Target
from laconic.wire.conversation import Conversation
from laconic.wire.identity import opening, stated

_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_SESSIONS: Final = (
    "x-laconic-session",
    "x-claude-code-session-id",
    "x-session-id",
    "session_id",
    "session-id",
    "conversation_id",
    "x-opencode-session",
    "x-session-affinity",
)


def caller(target: Target, headers: Mapping[str, str], query: str, conversation: Conversation) -> Caller:
    """Hashes of key, session and opening: the same after a restart, and no way back to a key."""
    account = _account(target, headers, query)
    named = next((headers[name] for name in _SESSIONS if headers.get(name)), "") or stated(conversation)
    session = _hash(account, named, opening(conversation, stated=bool(named)))
    return Caller(session[:32], account, conversation.model or target.model, headers.get("anthropic-beta", ""))


def _account(target: Target, headers: Mapping[str, str], query: str) -> str:
    keys = [headers.get(name, "") for name in _KEYS] + parse_qs(query).get("key", [])
    return _hash(target.upstream, *keys)[:32]


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
