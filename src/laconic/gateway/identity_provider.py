"""An organisation's OpenID provider: where it is asked, and whom a token that it signed is about.

Only signatures that need a private key count, for this client, from this issuer, and made just now.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import jwt
import msgspec

from laconic.config import outbound_proxy
from laconic.errors import BadSetting, NotAllowed, UpstreamError
from laconic.gateway.upstream_session import read_start
from laconic.local_addresses import is_loopback

_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_LEEWAY: Final = 30.0  # seconds that clocks may differ
_AGE: Final = 600.0  # seconds after which a token is too old to get a key for
_KEYS_AGE: Final = 300.0  # seconds that the provider's keys are remembered
_BETWEEN: Final = 10.0  # seconds between two looks for a key that nobody knows
LARGEST: Final = 1_000_000  # bytes of an answer


class OpenIdConfiguration(msgspec.Struct, frozen=True):
    """What a provider says about itself."""

    issuer: str
    token_endpoint: str
    jwks_uri: str
    device_authorization_endpoint: str = ""


class Person(msgspec.Struct, frozen=True):
    """Whom a token is about."""

    name: str
    team: str = ""


class IdentityProvider:
    """One issuer, for one client."""

    def __init__(self, issuer: str, client: str, *, claim: str = "email", team_claim: str = "") -> None:
        check_address(issuer)
        if not client:
            raise BadSetting("team.oidc_client is empty.", "Name the client id that the provider gave this gateway.")
        self.issuer = issuer.rstrip("/")
        self.client = client
        self._claim = claim
        self._team_claim = team_claim
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read = -_KEYS_AGE  # when the keys were read
        self._configuration: OpenIdConfiguration | None = None

    async def configuration(self) -> OpenIdConfiguration:
        """As the provider publishes it."""
        if self._configuration is None:
            body = await fetch(f"{self.issuer}/.well-known/openid-configuration")
            try:
                found = msgspec.json.decode(body, type=OpenIdConfiguration)
            except (msgspec.MsgspecError, RecursionError):
                raise UpstreamError(
                    "The OpenID provider publishes no configuration.", "Check team.oidc_issuer."
                ) from None
            if found.issuer.rstrip("/") != self.issuer:
                raise UpstreamError("The OpenID provider names another issuer.", "Check team.oidc_issuer.")
            for address in (found.token_endpoint, found.jwks_uri):
                check_address(address)
            self._configuration = found
        return self._configuration

    async def read_person(self, token: str) -> Person:
        """Whom a signed token is about. Anything that is not in order is refused."""
        try:
            header = jwt.get_unverified_header(token)
            key = await self._find_key(str(header.get("kid", "")), str(header.get("alg", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self.client,
                issuer=(await self.configuration()).issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, RecursionError) as error:  # parts may be nested without end
            raise NotAllowed(f"The token is not valid: {type(error).__name__}.", "Log in again.") from None
        if time.time() - float(claims["iat"]) > _AGE + _LEEWAY:
            raise NotAllowed("The token is too old.", "Log in again.")
        return self._read_claims(claims)

    def _read_claims(self, claims: Mapping[str, Any]) -> Person:
        name = claims.get(self._claim)
        if not isinstance(name, str) or not name.strip():
            raise NotAllowed(f"The token has no {self._claim!r}.", "Ask for it in team.oidc_scope.")
        if self._claim == "email" and claims.get("email_verified") is not True:
            raise NotAllowed("The provider did not verify this address.", "Verify it there, and log in again.")
        authorized = claims.get("azp")
        if authorized is not None and authorized != self.client:
            raise NotAllowed("The token was made for another client.", "Log in again.")
        team = claims.get(self._team_claim) if self._team_claim else ""
        if isinstance(team, list):
            team = team[0] if team else ""
        return Person(name.strip(), team if isinstance(team, str) else "")

    async def _find_key(self, id: str, algorithm: str) -> jwt.PyJWK:
        """The provider's key of this id, which fits the algorithm that the token names."""
        now = time.monotonic()
        if now - self._read > _KEYS_AGE or (id not in self._keys and now - self._read > _BETWEEN):
            self._read = now
            listed = jwt.PyJWKSet.from_json((await fetch((await self.configuration()).jwks_uri)).decode())
            self._keys = {key.key_id or "": key for key in listed.keys}
        key = self._keys.get(id)
        if key is None or algorithm not in _ALGORITHMS or key.algorithm_name != algorithm:
            raise NotAllowed("The token was not signed by this provider.", "Log in again.")
        return key


def check_address(url: str) -> None:
    """Secrets travel encrypted, but on this machine."""
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or not parts.hostname:
        raise BadSetting(f"{url!r} is not an https address.", "Write https://HOST.")


async def fetch(url: str, form: Mapping[str, str] | None = None) -> bytes:
    """The answer of another server: to a question, or to a form."""
    timeout = aiohttp.ClientTimeout(total=20)
    method = "GET" if form is None else "POST"
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as client,
            client.request(method, url, data=form, allow_redirects=False, proxy=outbound_proxy(url)) as answer,
        ):
            body = await read_start(answer, LARGEST)
            if len(body) > LARGEST:
                raise UpstreamError(f"{url} answers with more than {LARGEST} bytes.", "Check the address.")
            if answer.status >= 500 or (form is None and answer.status != 200):
                raise UpstreamError(f"{url} answers with status {answer.status}.", "Try again later.")
            return body
    except (aiohttp.ClientError, TimeoutError) as error:
        raise UpstreamError(f"{url} cannot be reached ({type(error).__name__}).", "Try again later.") from None
