"""The client's side of a login: ask the OpenID provider for a code, wait until somebody confirms it, get a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import aiohttp
import msgspec

from laconic.config import outbound_proxy
from laconic.errors import NotAllowed, UpstreamError
from laconic.gateway.identity_provider import LARGEST, check_address, fetch
from laconic.gateway.team_login import IssuedKey, LoginOffer
from laconic.gateway.upstream_session import read_start
from laconic.sessions.team.keys import KEY

T = TypeVar("T")
PATH: Final = "/laconic/login/"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_LEAST: Final = 0.2  # seconds between two questions
_SLOWER: Final = 5.0  # seconds more, when the provider asks for it


class DeviceCode(msgspec.Struct, frozen=True):
    """What the provider gives: a code for the person, and one for the program."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str = ""
    expires_in: float = 600.0
    interval: float = 5.0


class _TokenAnswer(msgspec.Struct, frozen=True):
    id_token: str = ""
    error: str = ""


async def log_in(base: str, tell: Callable[[DeviceCode], None]) -> IssuedKey:
    """A key from a team's gateway; `tell` shows the person what to open and what to type."""
    check_address(base)
    address = base.rstrip("/") + PATH
    offer = _decode(await fetch(address), LoginOffer)
    for endpoint in (offer.device_authorization_endpoint, offer.token_endpoint):
        check_address(endpoint)
    form = {"client_id": offer.client, "scope": offer.scope}
    code = _decode(await fetch(offer.device_authorization_endpoint, form), DeviceCode)
    tell(code)
    token = await _wait_for_token(offer, code)
    return await _bring(address, token)


async def _wait_for_token(offer: LoginOffer, code: DeviceCode) -> str:
    form = {"grant_type": _GRANT, "device_code": code.device_code, "client_id": offer.client}
    pause = max(_LEAST, code.interval)
    loop = asyncio.get_running_loop()
    until = loop.time() + code.expires_in
    while loop.time() < until:
        await asyncio.sleep(pause)
        said = _decode(await fetch(offer.token_endpoint, form), _TokenAnswer)
        if said.id_token:
            return said.id_token
        if said.error == "slow_down":
            pause += _SLOWER
        elif said.error != "authorization_pending":
            raise NotAllowed(f"The login was not confirmed: {said.error or 'no token'}.", "Try again.")
    raise NotAllowed("Nobody confirmed the login in time.", "Try again.")


async def _bring(address: str, token: str) -> IssuedKey:
    body = msgspec.json.encode({"id_token": token})
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as client,
            client.post(address, data=body, allow_redirects=False, proxy=outbound_proxy(address)) as answer,
        ):
            said = await read_start(answer, LARGEST)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise UpstreamError(f"The gateway cannot be reached ({type(error).__name__}).", "Try again.") from None
    if answer.status != 200:
        raise NotAllowed(f"The gateway gave no key: {said[:300].decode('utf-8', 'replace')}", "Ask your team.")
    issued = _decode(said, IssuedKey)
    if not KEY.fullmatch(issued.key):  # it is written into shells and files
        raise UpstreamError("The gateway gave something that is no key.", "Check the address.")
    return issued


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        said = body[:200].decode("utf-8", "replace")
        raise UpstreamError(f"This is not the answer that a login needs: {said}", "Check the address.") from None
