"""Where requests with a team's key enter: the key is checked, and the provider's key takes its place.

A team's key never goes to a provider, whoever runs this gateway. With one, only requests to models and a few free
questions pass: what else an account can do is not for everybody who may ask its models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic.errors import LaconicError
from laconic.exchange.caller import Target
from laconic.gateway.headers import readable
from laconic.gateway.provider_keys import ProviderKeys
from laconic.gateway.routes import Upstreams, target
from laconic.gateway.team_access import TeamAccess, TeamRefusal
from laconic.gateway.team_member import MEMBER, TeamMember
from laconic.sessions.team.keys import KEY

_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_KEY_NAMES: Final = frozenset(word.encode() for word in _KEYS)
# What would choose another account of the provider, or carry the key along.
_DROPPED: Final = frozenset(
    {
        *_KEYS,
        *("cookie", "openai-organization", "openai-project", "chatgpt-account-id", "x-goog-user-project"),
    }
)
_CONVERSATION: Final = re.compile(
    r"(?:/v1)?/messages|(?:/openai|/api)?(?:/v1|/v1beta/openai)?/(?:chat/completions|responses)"
    r"|/v1(?:beta|alpha)?/models/\w[\w.-]*:(?:streamGenerateContent|generateContent)"
)
_FREE: Final = {
    "GET": re.compile(r"(?:/openai|/api)?/v1(?:beta|alpha)?(?:/openai)?/models(?:/\w[\w.-]*)?"),
    "POST": re.compile(r"/v1/messages/count_tokens|/v1(?:beta|alpha)?/models/\w[\w.-]*:countTokens"),
}
_BEGINS: Final = re.compile(r"(?<![\w-])lac-[\w-]*")
Refuse = Callable[[Scope, TeamRefusal], ASGIApp]


class TeamGate:
    """An ASGI application in front of the proxy."""

    def __init__(
        self,
        proxy: ASGIApp,
        others: ASGIApp,
        upstreams: Upstreams,
        refuse: Refuse,
        *,
        access: TeamAccess | None = None,
        provider_keys: ProviderKeys | None = None,
        required: bool = False,
    ) -> None:
        self._proxy = proxy
        self._others = others  # who takes requests without a team's key
        self._upstreams = upstreams
        self._refuse = refuse
        self._access = access
        self._provider_keys = provider_keys or ProviderKeys({})
        self._required = required

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._others(scope, receive, send)
            return
        scope.pop(MEMBER, None)
        try:
            app, scope = await self._enter(scope)
        except TeamRefusal as refusal:
            app = self._refuse(scope, refusal)
        await app(scope, receive, send)

    async def _enter(self, scope: Scope) -> tuple[ASGIApp, Scope]:
        shown = find_keys(scope)
        if not shown:
            if self._required:
                raise TeamRefusal(
                    401, "This gateway takes keys of the team only.", "Use yours as the API key of your client."
                )
            return self._others, scope
        if self._access is None:
            raise TeamRefusal(401, "This gateway knows no keys of a team, so nothing was sent.", "Check its address.")
        if len(shown) > 1:
            raise TeamRefusal(401, "The request carries several keys of the team.", "Send one.")
        key = await self._access.verify(shown.pop())
        bare = without_keys(scope)
        where = self._find_target(bare)
        if where.format == "":
            await self._access.count(key)
        headers = [*bare["headers"]]
        for name, value in self._provider_keys.headers(where).items():
            headers.append((name.encode(), value.encode()))
        where = msgspec.structs.replace(where, person=key.owner)
        return self._proxy, {**bare, "headers": headers, MEMBER: TeamMember(key, where)}

    def _find_target(self, scope: Scope) -> Target:
        """Where it goes, if a key of a team may go there."""
        headers = readable(scope["headers"])
        query = scope["query_string"].decode("latin-1")
        path, method = scope["raw_path"].decode("latin-1"), scope["method"]
        try:
            # Providers share paths, and a bearer's key says which of them is meant: there was one.
            where = target(self._upstreams, method, path, {"authorization": "", **headers}, query)
        except LaconicError as error:
            raise TeamRefusal(404, error.problem, error.fix) from None
        is_free = method in _FREE and _FREE[method].fullmatch(where.path) is not None
        if not is_free and not (where.format and _CONVERSATION.fullmatch(where.path)):
            raise TeamRefusal(
                403, "A team's key opens conversations with models only.", "Use an account of your own for this."
            )
        if not self._provider_keys.knows(where.upstream):
            raise TeamRefusal(403, f"This team has no key for {where.upstream}.", "Ask your team for one.")
        return where


def find_keys(scope: Scope) -> set[str]:
    """Every key of a team that a request carries, wherever it does; also what only begins like one."""
    found = set()
    for value in _values(scope):
        found.update(_BEGINS.findall(value))
    return found


def without_keys(scope: Scope) -> Scope:
    """The request without anything that a provider could take for a key, or that contains one of ours."""
    kept = []
    for name, value in scope["headers"]:
        is_ours = KEY.search(value.decode("latin-1")) is not None
        if name.decode("latin-1").lower() not in _DROPPED and not is_ours:
            kept.append((name, value))
    query = []
    for name, text in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True):
        if name != "key" and KEY.search(f"{name} {text}") is None:
            query.append((name, text))
    return {**scope, "headers": kept, "query_string": urlencode(query).encode()}


def _values(scope: MutableMapping[str, Any]) -> Iterable[str]:
    for name, value in scope["headers"]:
        if name.lower() in _KEY_NAMES:
            yield value.decode("latin-1")
    for name, text in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True):
        if name == "key":
            yield text
