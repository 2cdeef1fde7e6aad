"""Login: whoever the organisation's OpenID provider vouches for gets a key of the team."""

from __future__ import annotations

import time
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from laconic.config import Settings
from laconic.errors import LaconicError, NotAllowed
from laconic.gateway.identity_provider import IdentityProvider, Person
from laconic.serving.bounded_body import read_bounded
from laconic.sessions.team.keys import TeamKey, TeamKeys, parse_budget

NOTE: Final = "login"
_KEPT: Final = 5  # keys that one person has by logging in; the oldest goes
_LARGEST: Final = 20_000  # bytes of a request
_DAY: Final = 86_400.0


class LoginOffer(msgspec.Struct, frozen=True):
    """What a client needs to log in."""

    issuer: str
    client: str
    scope: str
    device_authorization_endpoint: str
    token_endpoint: str


class LoginRequest(msgspec.Struct, frozen=True):
    """What a client brings."""

    id_token: str


class IssuedKey(msgspec.Struct, frozen=True):
    """What it gets."""

    key: str
    owner: str
    expires: float


class TeamLogin:
    """Hands out keys as the settings describe them."""

    def __init__(self, provider: IdentityProvider, keys: TeamKeys, settings: Settings) -> None:
        self._provider = provider
        self._keys = keys
        self._scope = settings.text("team.oidc_scope")
        self._domains = settings.patterns("team.oidc_domains")
        dollars, period = parse_budget(settings.text("team.login_budget"))
        self._days = settings.ratio("team.login_days")
        self._wanted = TeamKey(
            id="",
            owner="",
            models=settings.text("team.login_models"),
            budget=dollars,
            period=period,
            rate=settings.number("team.login_rate"),
            note=NOTE,
        )

    async def offer(self) -> LoginOffer:
        found = await self._provider.configuration()
        if not found.device_authorization_endpoint:
            raise NotAllowed("The OpenID provider offers no device flow.", "Enable it there.")
        return LoginOffer(
            issuer=found.issuer,
            client=self._provider.client,
            scope=self._scope,
            device_authorization_endpoint=found.device_authorization_endpoint,
            token_endpoint=found.token_endpoint,
        )

    async def issue(self, body: bytes) -> IssuedKey:
        """A key for whoever the token is about."""
        try:
            asked = msgspec.json.decode(body, type=LoginRequest)
        except (msgspec.MsgspecError, RecursionError):
            raise NotAllowed("There is no token.", 'Send {"id_token": "..."}.') from None
        person = await self._provider.read_person(asked.id_token)
        if self._domains and person.name.rpartition("@")[2].lower() not in self._domains:
            raise NotAllowed("This address belongs to another organisation.", "Ask your team for a key.")
        return await run_in_threadpool(self._create, person)

    def _create(self, person: Person) -> IssuedKey:
        expires = time.time() + self._days * _DAY if self._days else 0.0
        wanted = msgspec.structs.replace(
            self._wanted, owner=person.name, team=person.team, purse=f"login {person.name}", expires=expires
        )
        shown, key = self._keys.create(wanted, f"{person.name} by login")
        own = [each for each in self._keys.list(owner=person.name) if each.note == NOTE and each.id != key.id]
        for old in own[_KEPT - 1 :]:
            self._keys.revoke(old.id, f"{person.name} by login")
        return IssuedKey(shown, key.owner, key.expires)


def make_login_application(login: TeamLogin) -> Starlette:
    """GET says how to log in, POST takes a token and gives a key."""

    async def answer(request: Request) -> Response:
        try:
            found: msgspec.Struct
            if request.method == "POST":
                found = await login.issue(await _read(request))
            else:
                found = await login.offer()
        except NotAllowed as error:
            return _json({"error": str(error)}, 403)
        except LaconicError as error:
            return _json({"error": str(error)}, 503)
        return _json(found, 200)

    return Starlette(routes=[Route("/", answer, methods=["GET", "POST"])])


async def _read(request: Request) -> bytes:
    body = await read_bounded(request, _LARGEST)
    if body is None:
        raise NotAllowed("The token is too long.", "Log in again.")
    return body


def _json(value: object, status: int) -> Response:
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, "application/json")
