"""Whose request this is: recognised without help from the client, and also when its token changes."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qs

import msgspec

from laconic.clients.registry import session_headers
from laconic.exchange.caller import Caller, Target
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.session_id import opening, stated_id

_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_ACCOUNTS: Final = ("chatgpt-account-id", "openai-organization", "openai-project", "x-goog-user-project")
_OUR_SESSION: Final = "x-laconic-session"
_ANY_SESSION: Final = "x-session-id"


class _Claims(msgspec.Struct):
    sub: str = ""
    iss: str = ""


def caller(target: Target, headers: Mapping[str, str], query: str, conversation: ParsedRequest) -> Caller:
    """Hashes: the same after a restart, and no way back to a key.

    A session is known by what its client keeps: the id that it gives it, its first message, the account. Tokens change
    while it lasts. Two conversations that begin alike are told apart by how they go on.
    """
    named = next(
        (headers[name] for name in (_OUR_SESSION, *session_headers(), _ANY_SESSION) if headers.get(name)), ""
    )
    named = named or stated_id(conversation)
    whose = [_stated_account(headers)]
    if target.person:  # of a team, whose members share the provider's account
        whose = [f"member {target.person}"]
    session = _hash(target.upstream, *whose, named, opening(conversation))
    model = conversation.model or target.model
    family = ""
    if named:
        family = _hash(target.upstream, *whose, named)
    return Caller(
        session=session[:32],
        account=_account(target, headers, query),
        model=model,
        wishes=headers.get("anthropic-beta", ""),
        family=family[:32],
        upstream=target.upstream,
        client=headers.get("user-agent", ""),
    )


def _account(target: Target, headers: Mapping[str, str], query: str) -> str:
    """Whose quota it is: an account, or a key."""
    keys = [headers.get(name, "") for name in _KEYS] + parse_qs(query).get("key", [])
    account = _stated_account(headers)
    return _hash(target.upstream, *([account] if account else keys))[:32]


def _stated_account(headers: Mapping[str, str]) -> str:
    """The account that a request names beside its key."""
    stated = []
    for name in _ACCOUNTS:
        if headers.get(name):
            stated.append(headers[name])
    return "\0".join([*stated, _subject(headers.get("authorization", ""))]).strip("\0")


def _subject(authorization: str) -> str:
    """Whom a signed token is about; it stays the same when the token is renewed."""
    pieces = authorization.removeprefix("Bearer ").split(".")
    if len(pieces) != 3:
        return ""
    try:
        claims = msgspec.json.decode(urlsafe_b64decode(pieces[1] + "=" * (-len(pieces[1]) % 4)), type=_Claims)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return ""
    return f"{claims.iss} {claims.sub}".strip()


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
