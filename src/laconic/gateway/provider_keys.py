"""The providers' keys of a team: read once, from files and the environment, and sent to their provider only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from laconic.config import first_variable
from laconic.errors import BadSetting
from laconic.exchange.caller import Target
from laconic.wire.formats import FORMATS

_FORM: Final = "Write NAME=file:PATH, NAME=env:VARIABLE or NAME=none: `anthropic=file:/run/secrets/anthropic`."


class ProviderKeys:
    """By the name of an upstream. An upstream that is not named takes no requests with a team's key."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = dict(keys)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __repr__(self) -> str:
        return f"ProviderKeys({', '.join(self._keys)})"  # never a key: it could end up in a log

    def knows(self, upstream: str) -> bool:
        return upstream in self._keys

    def headers(self, target: Target) -> dict[str, str]:
        """What the provider wants to see, in lower case."""
        key = self._keys[target.upstream]
        if not key:
            return {}
        write = _writer(target)
        return {name.lower(): value for name, value in write(key).items() if key in value}


def read_provider_keys(setting: str, read_variable: Callable[[str], str] | None = None) -> ProviderKeys:
    """From `team.provider_keys`: the setting names places, never a key."""
    found = {}
    for pair in filter(None, (part.strip() for part in setting.split(","))):
        name, sign, place = pair.partition("=")
        if not sign:
            raise BadSetting(f"team.provider_keys: {name!r} is not of the form NAME=PLACE.", _FORM)
        found[name.strip()] = _read(name.strip(), place.strip(), read_variable or _read_variable)
    return ProviderKeys(found)


def _read_variable(name: str) -> str:
    return first_variable((name,))


def _read(name: str, place: str, read_variable: Callable[[str], str]) -> str:
    how, _, where = place.partition(":")
    if place == "none":
        return ""
    key = ""
    if how == "env":
        key = read_variable(where)
    elif how == "file":
        try:
            key = Path(where).expanduser().read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(f"team.provider_keys: no key for {name} in {where}: {error}.", _FORM) from None
    else:
        raise BadSetting(f"team.provider_keys: the place of the key for {name} is not understood.", _FORM)
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise BadSetting(f"team.provider_keys: there is no key for {name} in {place}.", _FORM)
    return key


def _writer(target: Target) -> Callable[[str], dict[str, str]]:
    """By the format of the request, else by the provider; a server of which nobody knows more takes a bearer token."""
    wanted = {target.upstream}
    if target.format:
        wanted.add(FORMATS[target.format].provider)
    for format in FORMATS.values():
        if format.provider in wanted and format.address.headers is not None:
            return format.address.headers
    return _bearer


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}
